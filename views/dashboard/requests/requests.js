// Opens requests beneath their rows, and holds the list still while its reader looks at something in it. The list itself is
// kept up to date by live.js, which leaves a part alone that has `data-hold`.
{
  const list = document.getElementById('list');
  const button = document.getElementById('show-new');
  const summary = document.getElementById('news-summary');
  const failure = document.getElementById('row-failure');
  const summaryEvery = 10_000; // ms

  function linkOf(row) {
    return row.querySelector('.open');
  }

  function openedAfter(row) {
    return row?.nextElementSibling?.matches('.opened') ? row.nextElementSibling : undefined;
  }

  // Rows.

  /** Rows that are being opened: a swapped list would lose them. */
  let loading = 0;

  /** Without this script a link leads to the page of its request, so only the script says that it opens something. */
  function markLinks() {
    for (const link of list.querySelectorAll('.open:not([aria-expanded])')) link.setAttribute('aria-expanded', 'false');
  }

  /** In the form of the server, so that live.js leaves an unchanged list alone. */
  function unmarkLinks() {
    for (const link of list.querySelectorAll('.open[aria-expanded=false]')) link.removeAttribute('aria-expanded');
  }

  function close(row) {
    openedAfter(row)?.remove();
    linkOf(row)?.setAttribute('aria-expanded', 'false');
    linkOf(row)?.removeAttribute('aria-controls');
    followHold();
  }

  list.addEventListener('htmx:beforeRequest', (event) => {
    const row = event.target.closest('.request');
    const opened = openedAfter(row);
    if (opened?.matches('.failed')) opened.remove();
    else if (opened !== undefined) {
      event.preventDefault();
      return close(row);
    }
    loading++;
    followHold();
  });
  list.addEventListener('htmx:afterRequest', () => {
    loading--;
    followHold();
  });
  list.addEventListener('htmx:afterSwap', () => {
    for (const opened of list.querySelectorAll('.opened[id]')) {
      const link = linkOf(opened.previousElementSibling);
      link.setAttribute('aria-expanded', 'true');
      link.setAttribute('aria-controls', opened.id);
    }
    followHold();
  });
  for (const type of ['htmx:responseError', 'htmx:sendError', 'htmx:timeout'])
    list.addEventListener(type, ({ target }) => {
      target.closest('.request')?.after(failure.content.cloneNode(true));
      followHold();
    });
  list.addEventListener('keydown', (event) => {
    const row = event.target.closest('.opened')?.previousElementSibling ?? event.target.closest('.request');
    if (event.key !== 'Escape' || !openedAfter(row)) return;
    close(row);
    linkOf(row).focus();
  });

  // New requests.

  /** Ids of the newest list that came. */
  let known = idsIn(list);
  /** New requests that are not shown yet, and those that were not announced yet. */
  let waiting = 0;
  let announced = 0;
  /** True when a whole list was new: there were more than it shows. */
  let isMore = false;

  function idsIn(part) {
    return [...part.querySelectorAll('[data-row]')].map(({ dataset }) => dataset.row);
  }

  function isReading() {
    const selection = getSelection();
    const hasSelection = !selection.isCollapsed && list.contains(selection.anchorNode);
    const hasOpened = loading > 0 || list.querySelector('.opened') !== null;
    return hasOpened || hasSelection || list.getBoundingClientRect().top < 0;
  }

  /** Ids begin with the time of their request: a row older than the oldest known one has only moved up. */
  function addNews(html) {
    const parsed = document.createElement('template');
    parsed.innerHTML = html;
    const ids = idsIn(parsed.content);
    const seen = new Set(known);
    const oldest = known.at(-1) ?? '';
    const fresh = ids.filter((id) => !seen.has(id) && id > oldest);
    isMore ||= known.length > 0 && ids.length > 0 && fresh.length === ids.length;
    known = ids;
    return fresh.length;
  }

  function wordsFor(count) {
    if (count === 1 && !isMore) return button.dataset.one;
    const number = count.toLocaleString(document.documentElement.lang) + (isMore ? '+' : '');
    return button.dataset.other.replace('{count}', number);
  }

  function followHold() {
    const isHeld = list.hasAttribute('data-hold');
    if (isReading() === isHeld) return;
    list.toggleAttribute('data-hold', !isHeld);
    if (isHeld) list.dispatchEvent(new CustomEvent('live:release', { bubbles: true }));
  }

  function showWaiting() {
    button.hidden = waiting === 0;
    button.textContent = wordsFor(waiting);
  }

  // In the capture phase, before live.js handles the event.
  document.addEventListener(
    'htmx:sseBeforeMessage',
    ({ target, detail }) => {
      if (target !== list) return;
      unmarkLinks();
      queueMicrotask(markLinks);
      const fresh = addNews(detail.data);
      announced += fresh;
      followHold();
      if (list.hasAttribute('data-hold')) waiting += fresh;
      showWaiting();
    },
    { capture: true },
  );
  document.addEventListener('htmx:sseMessage', ({ target }) => {
    if (target !== list) return;
    waiting = 0;
    isMore = false;
    showWaiting();
    markLinks();
  });
  button.addEventListener('click', () => {
    for (const opened of list.querySelectorAll('.opened')) close(opened.previousElementSibling);
    getSelection().removeAllRanges();
    scrollTo({ top: 0 });
    followHold();
    linkOf(list)?.focus({ preventScroll: true });
  });
  for (const type of ['scroll', 'selectionchange'])
    document.addEventListener(type, () => requestAnimationFrame(followHold), { passive: true });
  setInterval(() => {
    if (announced > 0) summary.textContent = wordsFor(announced);
    announced = 0;
  }, summaryEvery);
  markLinks();
}
