// Keeps an open page as it is now, and lets the keyboard walk its bars. The page is whole without it.
(() => {
  const base = document.currentScript.src.replace(/\/live\.js$/, "");
  const renew = async () => {
    if (document.hidden) return;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    if (!answer || !answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = new Set([...document.querySelectorAll("details[open]")].map((it) => it.dataset.id));
    next.querySelectorAll("details").forEach((it) => { if (open.has(it.dataset.id)) it.open = true; });
    const old = document.querySelector("main"), main = next.querySelector("main");
    const focused = document.activeElement, held = old.contains(focused);
    // Nobody who is writing is interrupted.
    if (!main || (held && focused.matches("input,select,textarea,button"))) return;
    old.replaceWith(main);
    document.title = next.title;
    const same = held && [...main.querySelectorAll("a,summary")].find((it) => name(it) === name(focused));
    if (same) { same.tabIndex = 0; same.focus({ preventScroll: true }); }
    local();
  };
  // What stays the same from one page to the next: where a link leads and what it is in, or what is folded.
  const name = (it) => [it.tagName, it.href, it.closest("[data-id]")?.dataset.id, it.closest("ol")?.ariaLabel].join();
  const local = () => {
    for (const time of document.querySelectorAll("time[datetime*=T]")) {
      time.title = new Date(time.dateTime).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "long" });
    }
  };
  const news = new EventSource(base + "/events");
  news.addEventListener("changed", renew);
  news.addEventListener("open", renew);
  setInterval(renew, 30000);
  document.addEventListener("visibilitychange", renew);
  document.addEventListener("keydown", (event) => {
    const bar = event.target.closest && event.target.closest(".bars a");
    const way = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!bar || way === undefined) return;
    const bars = [...bar.closest(".bars").querySelectorAll("a")].filter((it) => it.offsetParent);
    const place = bars.indexOf(bar) + (document.dir === "rtl" ? -way : way);
    const next = bars[Math.max(0, Math.min(bars.length - 1, place))];
    bar.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    event.preventDefault();
  });
  local();
})();
