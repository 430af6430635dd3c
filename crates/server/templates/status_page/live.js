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
    if (main && !old.contains(document.activeElement)) { old.replaceWith(main); document.title = next.title; local(); }
  };
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
