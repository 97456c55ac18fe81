// How the playground shows things: numbers, answers with code in them, errors with what to do.
{
  const form = document.getElementById('ask');
  const texts = JSON.parse(form?.dataset.texts ?? '{}');
  const language = document.documentElement.lang;
  const numbers = new Intl.NumberFormat(language);

  function fill(text, values) {
    return text.replaceAll(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole).trim();
  }

  function duration(ms) {
    const { units } = texts;
    if (ms < 100) return `${Math.round(ms)} ${units.ms}`;
    const digits = ms < 10_000 ? 2 : 1;
    const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return `${(ms / 1000).toLocaleString(language, format)} ${units.s}`;
  }

  function bytes(count) {
    const [value, unit] = count < 999_500 ? [Math.max(1, Math.round(count / 1000)), 'kB'] : [Math.round(count / 100_000) / 10, 'MB'];
    return `${numbers.format(value)} ${unit}`;
  }

  function clone(id) {
    return document.getElementById(id).content.firstElementChild.cloneNode(true);
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className !== '') made.className = className;
    made.textContent = text;
    return made;
  }

  /** `code` and **strong** in a line. Anything else is text, whatever it looks like. */
  function appendInline(place, text) {
    for (const piece of text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/)) {
      if (piece.length > 2 && piece.startsWith('`') && piece.endsWith('`')) place.append(element('code', '', piece.slice(1, -1)));
      else if (piece.length > 4 && piece.startsWith('**') && piece.endsWith('**')) place.append(element('strong', '', piece.slice(2, -2)));
      else if (piece !== '') place.append(piece);
    }
  }

  /** An answer: paragraphs, and blocks of code between fences. A fence that is still open counts. */
  function showText(place, text) {
    place.replaceChildren();
    for (const [index, block] of text.split(/^[ \t]*```/m).entries()) {
      if (index % 2 === 1) {
        const code = block.includes('\n') ? block.slice(block.indexOf('\n') + 1) : '';
        const box = element('pre', 'block', code.replace(/\n$/, ''));
        box.tabIndex = 0;
        place.append(box);
      } else if (block.trim() !== '') {
        const paragraph = element('p', '', '');
        appendInline(paragraph, block.replace(/^\n+|\n+$/g, ''));
        place.append(paragraph);
      }
    }
  }

  function causeOf(status) {
    if (status >= 500 || status === 424) return 'failed';
    return texts.causes[status] ?? 'refused';
  }

  function linkRequest(link, id) {
    link.href = `/dashboard/requests/${encodeURIComponent(id)}`;
    link.hidden = false;
  }

  /** Shows what went wrong and what to do. @returns what ends the countdown of a rate limit */
  function showError(place, { status, message, seconds = 1, id }) {
    const error = texts.errors[causeOf(status)];
    const box = clone(error.kind);
    box.querySelector('strong').textContent = error.title;
    const text = box.querySelector('p span');
    const write = () => {
      text.textContent = fill(error.text, { message: message ?? '', seconds: numbers.format(seconds) });
    };
    write();
    const link = box.querySelector('a');
    if (error.action) {
      link.textContent = error.action.label;
      link.href = error.action.path;
      link.hidden = false;
    } else if (id) {
      link.textContent = texts.openRequest;
      linkRequest(link, id);
    }
    place.replaceChildren(box);
    if (status !== 429) return () => undefined;
    const timer = setInterval(() => {
      seconds -= 1;
      if (seconds > 0) return write();
      clearInterval(timer);
      text.textContent = texts.again;
    }, 1000);
    return () => clearInterval(timer);
  }

  /** The route that served: its name, or its number where names are not shown. */
  function routeOf(response) {
    const route = response.headers.get(form.dataset.routeHeader) ?? '';
    return /^\d+$/.test(route) ? fill(texts.route, { number: route }) : route;
  }

  /** What a failure was: a refusal of the API, a broken stream, or no connection. */
  function failureOf(error) {
    if (typeof error.status === 'number') return error;
    return 'broken' in error ? { status: 502, message: error.broken, id: error.id } : { status: 0 };
  }

  Object.assign(globalThis.playground, {
    form,
    texts,
    numbers,
    fill,
    duration,
    bytes,
    clone,
    element,
    showText,
    showError,
    failureOf,
    linkRequest,
    routeOf,
  });
}
