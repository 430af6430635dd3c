// Status pages: components and groups are ordered by drag. The buttons do the same without scripts.
(() => {
  "use strict";
  let dragged = null;
  // The list as it is stored.
  let stored = null;
  // Sends one order after the other, because each replaces the list.
  let sending = Promise.resolve();

  const isGroup = (item) => item.hasAttribute("data-is-group");

  // Marks the rows that can be dragged. The server renders none, because links in them would drag too.
  const prepare = () => {
    const order = document.querySelector("[data-order]");
    if (!order) return;
    for (const item of order.querySelectorAll("[data-entry]")) {
      if (item.querySelector(".grip")) item.draggable = true;
    }
    if (!dragged) stored = order.innerHTML;
  };

  // Returns the list that an item may go into at this element: groups stay on the page itself.
  const listAt = (element) => {
    const inner = element.closest("[data-members]");
    if (inner && !isGroup(dragged)) return inner;
    const group = element.closest("[data-is-group]");
    if (group && !isGroup(dragged)) return group.querySelector("[data-members]");
    return element.closest("[data-order]");
  };

  const place = (event) => {
    const list = listAt(event.target);
    if (!list || dragged.contains(list)) return;
    const items = [...list.children].filter((item) => item !== dragged);
    const next = items.find((item) => {
      const box = item.getBoundingClientRect();
      return event.clientY < box.top + box.height / 2;
    });
    list.insertBefore(dragged, next ?? null);
  };

  // Returns the layout: components, and groups before their components.
  const layout = (order) =>
    [...order.children].flatMap((item) => {
      const id = item.dataset.entry;
      const members = item.querySelectorAll("[data-members] > [data-entry]");
      return [id, ...[...members].map((member) => `${id}/${member.dataset.entry}`)];
    });

  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("[data-order] [data-entry]") ?? null;
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.entry);
    dragged.classList.add("dragged");
  });
  document.addEventListener("dragover", (event) => {
    if (!dragged || !event.target.closest("[data-order]")) return;
    event.preventDefault();
    place(event);
  });
  document.addEventListener("drop", (event) => {
    if (dragged) event.preventDefault();
  });
  document.addEventListener("dragend", () => {
    if (!dragged) return;
    // An answer to an earlier drag removes the row from the page.
    const order = dragged.closest("[data-order]");
    dragged.classList.remove("dragged");
    dragged = null;
    if (!order) return;
    const values = { entry: layout(order) };
    const swap = { target: "#arrangement", select: "#arrangement", swap: "outerHTML", values };
    sending = sending.then(() => htmx.ajax("POST", order.dataset.order, swap)).catch(() => {});
  });

  // A refused order is not shown.
  const restore = (event) => {
    const order = document.querySelector("[data-order]");
    if (!stored || event.detail.requestConfig?.path !== order?.dataset.order) return;
    order.innerHTML = stored;
    prepare();
  };
  document.addEventListener("htmx:responseError", restore);
  document.addEventListener("htmx:sendError", restore);

  document.addEventListener("DOMContentLoaded", prepare);
  document.addEventListener("htmx:afterSettle", () => {
    prepare();
    // The frame shows the stored page.
    const frame = document.querySelector("iframe[data-preview]");
    if (frame) frame.src = frame.getAttribute("src");
  });
})();
