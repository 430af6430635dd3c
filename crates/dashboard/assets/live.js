// Live updates: one stream says that something changed, and the parts of the page with `data-live` are loaded
// again and changed in place. Its value is the topic of the page. Nothing that a person ticked, opened, focused or
// is writing is lost.
(() => {
  "use strict";
  const base = document.body.dataset.base;
  const parts = () => document.querySelectorAll("[data-live]");
  const notice = document.createElement("p");
  notice.className = "toast lost";
  let stream, retry, lostTimer;
  let renewing = false, again = false;

  const lost = (text) => {
    notice.textContent = text;
    document.querySelector(".toasts")?.append(notice);
  };
  const isEdited = (field) =>
    field.matches("select")
      ? [...field.options].some((it) => it.selected !== it.defaultSelected)
      : field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  // An open menu or dialog stays as it is until it closes.
  const isOpen = (node) => node.matches("details.menu[open], dialog[open]");
  const keep = (old, next) => {
    if (old.nodeType !== 1) return true;
    if (isOpen(old)) return false;
    // A refused input stays with its message.
    if (old.matches("[aria-invalid]")) return false;
    if (old.matches("input[type=checkbox]") && old.checked) next.setAttribute("checked", "");
    if (old.matches("input, select, textarea") && (old === document.activeElement || isEdited(old))) return false;
    if (old.matches("details[open]")) next.open = true;
    // The text of a time is local already.
    return !(old.matches("time") && old.dateTime === next.dateTime);
  };
  const mayGo = (node) =>
    node.nodeType !== 1 ||
    !(node.contains(document.activeElement) || isOpen(node) || node.matches(".wrong") || node.querySelector("details.menu[open], dialog[open]"));
  // The details of a check beside a list change the address of the page.
  const path = () => document.querySelector("[data-live-path]")?.dataset.livePath ?? location.href;
  const load = async () => {
    const asked = path();
    const answer = await fetch(asked, { headers: { accept: "text/html" } });
    if (answer.redirected) return lost("You are signed out. Reload the page to sign in.");
    if (!answer.ok) return;
    const text = await answer.text();
    // Meanwhile the person may have searched: the answer is for another view.
    if (asked !== path()) {
      again = true;
      return;
    }
    const next = new DOMParser().parseFromString(text, "text/html");
    for (const part of parts()) {
      const fresh = next.getElementById(part.id);
      if (!fresh) continue;
      Idiomorph.morph(part, fresh, { callbacks: { beforeNodeMorphed: keep, beforeNodeRemoved: mayGo } });
      htmx.process(part);
      part.dispatchEvent(new CustomEvent("htmx:afterSettle", { bubbles: true }));
    }
    document.title = next.title;
  };
  const renew = async () => {
    if (document.hidden || !parts().length) return;
    if (renewing) {
      again = true;
      return;
    }
    renewing = true;
    try {
      await load();
    } catch {
      // The connection broke. The next change, or the next minute, loads it again.
    } finally {
      renewing = false;
    }
    if (again) {
      again = false;
      setTimeout(renew, 500);
    }
  };
  const close = () => {
    clearTimeout(retry);
    stream?.close();
    stream = null;
  };
  const open = () => {
    if (stream || document.hidden) return;
    const topic = document.querySelector("[data-live]:not([data-live=''])")?.dataset.live;
    stream = new EventSource(base + "/events" + (topic ? "?on=" + encodeURIComponent(topic) : ""));
    stream.addEventListener("open", () => {
      clearTimeout(lostTimer);
      lostTimer = null;
      notice.remove();
      renew();
    });
    stream.addEventListener("changed", renew);
    stream.addEventListener("error", () => {
      lostTimer ??= setTimeout(() => lost("The connection is lost. Trying again…"), 2000);
      if (stream?.readyState !== EventSource.CLOSED) return;
      // The session may have ended, which the page says.
      close();
      renew();
      retry = setTimeout(open, 10000);
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    if (!base || !parts().length) return;
    setTimeout(open, 250);
    // Durations grow without a change.
    setInterval(renew, 60000);
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
  });
})();
