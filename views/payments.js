// Counts the time down, looks again when the reader comes back, shares the QR code, copies and prints.
// Pages work without it.
const page = document.querySelector('#pay');
const live = document.querySelector('#live');
const two = (value) => String(value).padStart(2, '0');
const refetch = () => live && window.htmx?.trigger(live, 'refetch');

if (page?.querySelector('#left')) countDown(Number(page.dataset.left));

/** From the seconds that the server's clock had left when it sent the page; the reader's clock may be wrong. */
function countDown(seconds) {
  const began = performance.now();
  const text = document.querySelector('#left');
  const bar = document.querySelector('#drain');
  document.querySelector('.until').hidden = true;
  document.querySelector('.left').hidden = false;
  const timer = setInterval(tick, 250);
  tick();

  function tick() {
    const left = Math.max(0, Math.ceil(seconds - (performance.now() - began) / 1000));
    text.textContent = format(left);
    bar.value = left;
    if (left > 0) return;
    clearInterval(timer);
    // Nobody should pay it now, also when the gateway cannot be reached.
    document.querySelector('#qr')?.remove();
    document.querySelector('#save')?.remove();
    refetch();
  }
}

function format(seconds) {
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') refetch();
});
// A page that comes back from the cache of the browser is as old as when it was left.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

// Where pictures can be shared, phones offer to save them among the photos; downloads go where wallets do not look.
const save = document.querySelector('#save');
if (save && matchMedia('(pointer: coarse)').matches && canShareImages()) void prepareSharing();

function canShareImages() {
  return navigator.canShare?.({ files: [new File(['.'], save.download, { type: 'image/png' })] }) === true;
}

/** Loads the picture before it is asked for: browsers share only right after a tap. */
async function prepareSharing() {
  const response = await fetch(save.href);
  if (!response.ok) return;
  const files = [new File([await response.blob()], save.download, { type: 'image/png' })];
  save.addEventListener('click', (event) => {
    event.preventDefault();
    navigator.share({ files }).catch(() => {});
  });
}

for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
    button.textContent = button.dataset.copied;
    setTimeout(() => (button.textContent = label), 3000);
  });
}

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
