// Keeps the countdown true, looks again when the reader comes back, and shares the QR code. Pages work without it.
{
  const live = document.querySelector('#live');
  const left = document.querySelector('#left');
  const refetch = () => live && window.htmx?.trigger(live, 'refetch');

  if (left) {
    document.querySelector('.until').hidden = true;
    document.querySelector('.left').hidden = false;
  }

  // Nobody should pay it now, also when the gateway cannot be reached.
  document.addEventListener('countdown-end', () => {
    document.querySelector('#qr')?.remove();
    document.querySelector('#save')?.remove();
    refetch();
  });

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') refetch();
  });
  // A page that comes back from the cache of the browser is as old as when it was left.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });

  // Each answer has the server's time: a phone that slept, or whose clock was set, counts on from there.
  document.addEventListener('htmx:afterRequest', ({ detail }) => {
    const now = Date.parse(detail.xhr.getResponseHeader('date'));
    const end = Date.parse(document.querySelector('.until time')?.dateTime);
    if (left && Math.abs(end - now - shown()) > 2_000) left.dataset.countdown = String(Math.max(0, end - now));
  });

  /** Ms that the page shows: `12:48`, or `1:02:03`. */
  function shown() {
    return left.textContent.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) * 1000;
  }

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
