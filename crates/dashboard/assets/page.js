// Makes pages live: local times, menus and toasts. Everything works without it: forms post, and links load.
(() => {
  "use strict";
  // Milliseconds for which a toast is shown.
  const SHOWN = 8000;

  // Local times, with UTC on hover.
  const localTimes = (root) => {
    for (const time of root.querySelectorAll("time[datetime]")) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      const timeStyle = "seconds" in time.dataset ? "medium" : "short";
      time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle });
    }
  };

  // Menus close when something else is clicked.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  // Toasts go after some seconds, unless somebody points at them.
  const hideLater = (toast) =>
    setTimeout(() => {
      if (toast.matches(":hover, :focus-within")) hideLater(toast);
      else toast.remove();
    }, SHOWN);

  // Shows the notices of the page. They are inserted again, because screen readers announce changes only.
  // Refusals stay until they are read, and the server removes forms that undo a change.
  const showNotices = () => {
    for (const toast of document.querySelectorAll("p.toast")) {
      const again = toast.cloneNode(true);
      setTimeout(() => {
        toast.replaceWith(again);
        if (!again.matches(".refusal")) hideLater(again);
      }, 100);
    }
  };

  // Says that an update of a part of the page failed. A box that was ticked shows what is stored again.
  const refuse = (event, text) => {
    const box = event.detail.requestConfig?.triggeringEvent?.target;
    if (box?.matches?.("form[hx-post] input[type=checkbox]")) box.checked = box.defaultChecked;
    const toasts = document.querySelector(".toasts");
    if (!toasts) return;
    toasts.querySelector(".failed")?.remove();
    const toast = document.createElement("p");
    toast.className = "toast failed refusal";
    toast.textContent = text;
    toasts.append(toast);
  };
  document.addEventListener("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    if (status === 401) refuse(event, "You are signed out. Reload the page to sign in.");
    else if (status === 429) refuse(event, "Too many attempts. Try again in a moment.");
    else if (status === 503) refuse(event, "The database does not answer. Try again in a moment.");
    else if (status === 504) refuse(event, "It took too long. Try again.");
    else refuse(event, "This did not work. Reload the page and try again.");
  });
  document.addEventListener("htmx:sendError", (event) => refuse(event, "The server does not answer. Try again in a moment."));
  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, requestConfig, successful } = event.detail;
    if (!successful) return;
    document.querySelector(".toast.failed")?.remove();
    // A later failure goes back to what this request stored.
    if (!elt.matches?.("form[hx-post]")) return;
    for (const box of elt.querySelectorAll("input[type=checkbox]")) {
      box.defaultChecked = requestConfig.formData.getAll(box.name).includes(box.value);
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    localTimes(document);
    showNotices();
  });
  document.addEventListener("htmx:afterSettle", (event) => localTimes(event.target));
})();
