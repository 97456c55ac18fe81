// For every page: the reader's zone, copying, countdowns, dialogs, menus, relative times. Pages work without it.
const { prefix, notCopied } = document.documentElement.dataset;
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const secure = location.protocol === 'https:' ? '; secure' : '';
// The server writes times in this zone from the next page on.
document.cookie = `${prefix}_zone=${zone}; path=/; max-age=31536000; samesite=lax${secure}`;

// Systems with the locale POSIX name a language that Intl refuses, and libraries of pages pass it on.
if (!isLanguage(navigator.language)) Object.defineProperty(navigator, 'language', { value: document.documentElement.lang });

function isLanguage(name) {
  try {
    return Intl.getCanonicalLocales(name).length > 0;
  } catch {
    return false;
  }
}

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;

/** Controls that need a script are hidden until it runs. Called again for parts that htmx inserts. */
function prepare(root) {
  const canCopy = navigator.clipboard !== undefined;
  for (const element of root.querySelectorAll('[data-copy], [data-print], [data-open]'))
    element.hidden = element.hidden && element.matches('[data-copy]') && !canCopy;
  tick();
}

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy], [data-print], [data-open], [data-close]') : null;
  closeMenus(target);
  if (button === null) return;
  const { copy, copied, open } = button.dataset;
  if (copy !== undefined) {
    const source = document.querySelector(copy);
    const text = source.dataset.value ?? source.value ?? source.textContent;
    toast(await navigator.clipboard.writeText(text).then(() => copied, () => notCopied));
  } else if (open !== undefined) openDialog(document.querySelector(open));
  else if ('print' in button.dataset) print();
  else button.closest('dialog')?.close();
});

// A link to a page with the question, where there is no script, opens the dialog here.
function openDialog(dialog) {
  if (dialog === null) return;
  dialog.showModal();
  dialog.querySelector('[data-close]')?.focus();
}
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[data-open], dialog a[data-close]') : null;
  if (link !== null) event.preventDefault();
  if (event.target instanceof HTMLDialogElement) event.target.close();
});

function closeMenus(target) {
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(target)) menu.open = false;
}
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  const menu = document.querySelector('details.menu[open]');
  if (menu === null) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});

let toasted;
function toast(text) {
  toasted?.remove();
  toasted = document.createElement('div');
  toasted.className = 'toast';
  toasted.setAttribute('role', 'status');
  document.body.append(toasted);
  // Screen readers announce changes inside a live region.
  const shown = toasted;
  setTimeout(() => (shown.textContent = text), 50);
  setTimeout(() => shown.remove(), 3 * second);
}

/** Announces a text to screen readers. */
let announcer;
function announce(text) {
  if (text === undefined) return;
  if (announcer === undefined) {
    announcer = document.createElement('p');
    announcer.className = 'hidden';
    announcer.setAttribute('role', 'status');
    document.body.append(announcer);
  }
  setTimeout(() => (announcer.textContent = text), 50);
}

/** Ends of countdowns by this machine's clock, which may be wrong: only its difference counts. */
const ends = new WeakMap();
/** Ms since the server sent this page, for times in it. */
const age = Math.max(0, performance.now() - (performance.getEntriesByType('navigation')[0]?.responseStart ?? 0));
let isLoaded = false;

/** `data-countdown` has the ms that the server's clock had left. At the end the element gets the event `countdown-end`. */
function countDown(element) {
  const now = Date.now();
  let state = ends.get(element);
  if (state?.from !== element.dataset.countdown) {
    const from = element.dataset.countdown;
    state = { from, end: now - (isLoaded ? 0 : age) + Number(from), before: undefined };
    ends.set(element, state);
  }
  const left = Math.max(0, Math.ceil((state.end - now) / second) * second);
  if (left === state.before) return;
  writeLeft(element, left);
  const { announceDay, announceHour, announceEnd } = element.dataset;
  const crossed = (limit) => state.before > limit && left <= limit;
  if (crossed(day)) announce(announceDay);
  if (crossed(hour)) announce(announceHour);
  if (crossed(0)) {
    announce(announceEnd);
    element.dispatchEvent(new CustomEvent('countdown-end', { bubbles: true }));
  }
  state.before = left;
}

const two = (value) => String(Math.floor(value)).padStart(2, '0');

function writeLeft(element, left) {
  const clock = element.querySelector('[data-clock]');
  const minutes = `${two((left % hour) / 60_000)}:${two((left % 60_000) / second)}`;
  if (clock === null) element.textContent = left >= hour ? `${Math.floor(left / hour)}:${minutes}` : minutes;
  else {
    const days = element.querySelector('[data-days]');
    days.hidden = left < day;
    days.querySelector('[data-count]').textContent = Math.floor(left / day);
    clock.textContent = `${two((left % day) / hour)}:${minutes}`;
  }
  const drain = document.querySelector(element.dataset.drain ?? 'no-drain');
  if (drain !== null) drain.value = left / second;
}

// In the format of the server.
const locale = document.documentElement.lang === 'en' ? 'en-GB' : 'id-ID';
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
const steps = [['day', day], ['hour', hour], ['minute', 60 * second]];

/** `<time data-relative>` keeps saying how long ago it was, up to a week. */
function writeRelative(element) {
  const ms = Date.parse(element.dateTime) - Date.now();
  if (Math.abs(ms) >= 7 * day) return;
  const [unit, length] = steps.find(([, size]) => Math.abs(ms) >= size) ?? ['second', second];
  const text = unit === 'second' ? relative.format(0, unit) : relative.format(Math.trunc(ms / length), unit);
  const shown = text.replace(/\bhr\b/, 'h');
  if (element.textContent !== shown) element.textContent = shown;
}

function tick() {
  for (const element of document.querySelectorAll('[data-countdown]')) countDown(element);
  for (const element of document.querySelectorAll('time[data-relative]')) writeRelative(element);
}

prepare(document);
isLoaded = true;
setInterval(tick, 250);
document.addEventListener('htmx:afterSettle', ({ target }) => prepare(target));
document.addEventListener('htmx:load', ({ target }) => prepare(target));
document.addEventListener('htmx:sseMessage', () => prepare(document));
