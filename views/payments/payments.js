// Keeps the countdown true, shows another state of the order whole, and shares the QR code. Pages work without it.
{
  const bill = document.querySelector('.bill');
  const left = document.querySelector('#left');
  const end = document.querySelector('.until time')?.dateTime;

  if (left) {
    document.querySelector('.until').hidden = true;
    document.querySelector('.left').hidden = false;
  }

  // Nobody should pay it now, also when the gateway cannot be reached.
  document.addEventListener('countdown-end', () => {
    document.querySelector('#qr')?.remove();
    document.querySelector('#save')?.remove();
  });

  // Another state has other buttons, so the page is loaded again.
  document.addEventListener('htmx:sseMessage', () => {
    const state = document.querySelector('#state [data-state]')?.dataset.state;
    if (state !== undefined && state !== bill?.dataset.view) location.replace(location.pathname);
  });

  // A page that comes back from the cache of the browser is as old as when it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });

  // Readers come back from their wallet to a phone that has slept, or whose clock was set: the server's counts.
  document.addEventListener('visibilitychange', async () => {
    if (document.visibilityState !== 'visible' || !left) return;
    const reply = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
    const now = Date.parse(reply?.headers.get('date'));
    if (now > 0) left.dataset.countdown = String(Math.max(0, Date.parse(end) - now));
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
}
