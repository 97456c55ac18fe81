// The code of the request that would be sent, in five languages.
{
  const { form } = globalThis.playground;
  const boxes = [...document.querySelectorAll('.samples .code')];
  let writer;

  /** Tabs: each box links to the others. One is shown at a time. */
  function show(id) {
    for (const box of boxes) box.hidden = box.id !== id;
  }
  for (const link of document.querySelectorAll('.samples nav a')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      const id = link.hash.slice(1);
      show(id);
      document.querySelector(`#${id} nav a[aria-current]`).focus();
    });
  }
  if (boxes.length > 0) show(boxes[0].id);

  /** Comments and strings, as the server marks them. */
  function colour(code, text) {
    code.replaceChildren();
    let end = 0;
    for (const match of text.matchAll(/((?<=^|\s)#.*$|(?<=^|\s)\/\/.*$)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/gm)) {
      const piece = globalThis.playground.element('span', match[1] === undefined ? 'string' : 'comment', match[0]);
      code.append(text.slice(end, match.index), piece);
      end = match.index + match[0].length;
    }
    code.append(text.slice(end));
  }

  /** Files of megabytes are shortened: a page of base64 is no code. */
  function shorten(value) {
    if (typeof value === 'string') return value.length > 400 && /^(data:|[A-Za-z0-9+/=]+$)/.test(value) ? `${value.slice(0, 40)}…` : value;
    if (Array.isArray(value)) return value.map(shorten);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member)]));
  }

  /** @param body of the request @param kind as in write-code.mjs */
  globalThis.playground.showCode = async (kind, body) => {
    writer ??= import(form.dataset.writer);
    const { writeCode } = await writer;
    const call = { apiUrl: form.dataset.api, kind, body: shorten(body) };
    for (const box of boxes) colour(box.querySelector('code'), writeCode(box.dataset.language, call));
  };
}
