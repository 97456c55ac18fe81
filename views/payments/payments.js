// Keeps the countdown correct, reloads the page when the order changes state, and shares the QR code. Pages work without it.
{
  const bill = document.querySelector('.bill');
  const left = document.querySelector('#left');
  const end = document.querySelector('.until time')?.dateTime;

  if (left) {
    document.querySelector('.until').hidden = true;
    document.querySelector('.left').hidden = false;
  }

  // The code must not be paid any more, even if the gateway cannot be reached.
  document.addEventListener('countdown-end', () => {
    document.querySelector('#qr')?.remove();
    document.querySelector('#save')?.remove();
  });

  // Another state has other buttons, so the page is loaded again.
  document.addEventListener('htmx:sseMessage', () => {
    const state = document.querySelector('#state [data-state]')?.dataset.state;
    if (state !== undefined && state !== bill?.dataset.view) location.replace(location.pathname);
  });

  // A page from the browser's back/forward cache is as old as when it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });

  // The phone may have slept, or its clock may have been set, while the buyer was in the wallet: the server's clock counts.
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
