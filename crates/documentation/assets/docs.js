// Makes reading quicker: remembers the chosen language, adds buttons that copy code, and shows search results while
// the reader types. The pages are complete without it.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (name, properties = {}) => Object.assign(document.createElement(name), properties);
  const CHOSEN = "docs.language";
  // Storage may be forbidden; the choice then holds for this page.
  const remembered = () => {
    try {
      return localStorage.getItem(CHOSEN);
    } catch {
      return null;
    }
  };
  const remember = (name) => {
    try {
      localStorage.setItem(CHOSEN, name);
    } catch {
      /* see above */
    }
  };
  const choose = (name) => {
    for (const radio of all(".tabs>input")) if (radio.value === name) radio.checked = true;
  };
  const chosen = remembered();
  if (chosen) choose(chosen);
  document.addEventListener("change", ({ target }) => {
    if (!target.matches(".tabs>input")) return;
    const before = target.getBoundingClientRect().top;
    choose(target.value);
    remember(target.value);
    // The content above may be longer now. Scroll so that the chosen tab stays in place.
    scrollBy(0, target.getBoundingClientRect().top - before);
  });
  // A fragment written by hand, such as `#100%`, may not be encoded.
  const anchor = () => {
    const hash = location.hash.slice(1);
    try {
      return decodeURIComponent(hash);
    } catch {
      return hash;
    }
  };
  // A link to an example shows it.
  const reveal = () => {
    const sample = document.getElementById(anchor())?.closest(".tabs>.code");
    if (!sample) return;
    const samples = all(":scope>.code", sample.parentElement);
    all(":scope>input", sample.parentElement)[samples.indexOf(sample)].checked = true;
    sample.parentElement.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Over plain HTTP from another machine there is no clipboard, but what is selected can be copied.
  const copySelected = (element) => {
    const selection = getSelection();
    selection.selectAllChildren(element);
    const done = document.execCommand("copy");
    selection.removeAllRanges();
    return done;
  };
  const copy = async (element) => {
    if (!navigator.clipboard) return copySelected(element);
    return navigator.clipboard.writeText(element.textContent).then(
      () => true,
      () => copySelected(element),
    );
  };
  for (const code of all(".code")) {
    const button = made("button", { type: "button", className: "copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      button.textContent = (await copy(code.querySelector("code"))) ? "Copied" : "Not copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    });
    code.append(button);
  }

  const field = document.getElementById("q");
  document.addEventListener("keydown", (event) => {
    const writes = event.target.matches("input:not([type=radio]),textarea,select");
    if (event.key === "/" && !writes && !event.ctrlKey && !event.metaKey && !event.altKey) {
      field.focus();
      field.select();
      event.preventDefault();
    }
  });
  const form = field.form;
  const status = made("p", { className: "hide", role: "status" });
  const list = made("ul", { className: "found", hidden: true });
  form.append(list, status);
  const hit = ({ address, title, heading, snippet }) => {
    const link = made("a", { href: address });
    const text = made("p");
    for (const piece of snippet)
      text.append(piece.marked ? made("mark", { textContent: piece.text }) : piece.text);
    link.append(
      made("strong", { textContent: heading || title }),
      heading ? made("span", { textContent: title }) : "",
      text,
    );
    const item = made("li");
    item.append(link);
    return item;
  };
  const show = ({ hits, total }) => {
    list.replaceChildren(...hits.slice(0, 8).map(hit));
    list.hidden = hits.length === 0;
    status.textContent = total === 1 ? "1 section" : `${total} sections`;
  };
  let last = 0,
    waits;
  // Discards pending and scheduled searches.
  const hide = () => {
    last++;
    clearTimeout(waits);
    list.hidden = true;
  };
  const search = async () => {
    const mine = ++last;
    if (!field.value.trim()) return hide();
    const url = `${form.action}?q=${encodeURIComponent(field.value)}`;
    const answer = await fetch(url, { headers: { accept: "application/json" } }).catch(() => null);
    const found = answer?.ok ? await answer.json().catch(() => null) : null;
    if (mine !== last) return;
    if (found) show(found);
    else hide();
  };
  field.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(search, 100);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      hide();
      field.focus();
    }
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way || list.hidden) return;
    const items = [field, ...all("a", list)];
    const next = items.indexOf(document.activeElement) + way;
    items[Math.max(0, Math.min(items.length - 1, next))].focus();
    event.preventDefault();
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) hide();
  });
})();
