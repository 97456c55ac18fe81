// The playground: sends the conversation to the API with a token of this session, and shows the answer as it comes. Without
// this script the form does the same, and the page shows the whole answer.
{
  const form = document.getElementById('ask');
  const field = document.getElementById('message');

  /** Tabs: each box links to the others. One is shown at a time. */
  function showTabs() {
    const boxes = [...document.querySelectorAll('.samples .code')];
    const show = (id) => {
      for (const box of boxes) box.hidden = box.id !== id;
    };
    for (const link of document.querySelectorAll('.samples nav a')) {
      link.addEventListener('click', (event) => {
        event.preventDefault();
        const id = link.hash.slice(1);
        show(id);
        document.querySelector(`#${id} nav a[aria-current]`).focus();
      });
    }
    if (boxes.length > 0) show(boxes[0].id);
  }

  /** A model that makes images has another page. */
  function followModel() {
    const select = form.elements.model;
    select.addEventListener('change', () => {
      const isSilent = select.selectedOptions[0].closest('optgroup') !== null;
      if (isSilent || field === null) location.assign(`${form.action}?model=${encodeURIComponent(select.value)}`);
      else showCode();
    });
  }

  if (form !== null) {
    showTabs();
    followModel();
  }

  const bounds = JSON.parse(form?.dataset.bounds ?? '{}');
  const texts = JSON.parse(form?.dataset.texts ?? '{}');
  const numbers = new Intl.NumberFormat(document.documentElement.lang);
  const turns = document.getElementById('turns');
  const send = document.getElementById('send');
  const stop = document.getElementById('stop');
  const progress = document.getElementById('progress');
  const place = document.getElementById('error');
  const messages = JSON.parse(form?.elements.history.value || '[]');
  const api = globalThis.playgroundApi;
  /** Stops the running request; undefined without one. */
  let running;
  let wait;

  function fill(text, values) {
    return text.replaceAll(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole).trim();
  }

  function duration(ms) {
    const { units } = texts;
    if (ms < 100) return `${Math.round(ms)} ${units.ms}`;
    const digits = ms < 10_000 ? 2 : 1;
    const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return `${(ms / 1000).toLocaleString(document.documentElement.lang, format)} ${units.s}`;
  }

  // The code.

  function showCode() {
    const model = form.elements.model.value;
    const asked = field.value.trim();
    const last = asked === '' ? [] : [{ role: 'user', content: asked }];
    const shown = [...messages, ...last].slice(-bounds.messages);
    if (shown.length === 0) shown.push({ role: 'user', content: form.dataset.example });
    for (const box of document.querySelectorAll('.samples .code')) {
      const { template } = box.dataset;
      const indent = template.startsWith('//') ? 2 : 4;
      const values = {
        BODY: JSON.stringify({ model, messages: shown, stream: true }, undefined, 2).replaceAll("'", `'\\''`),
        MODEL: JSON.stringify(model),
        MESSAGES: JSON.stringify(shown, undefined, indent).replaceAll('\n', `\n${' '.repeat(indent)}`),
      };
      colour(box.querySelector('code'), template.replaceAll(/%([A-Z]+)%/g, (whole, name) => values[name] ?? whole));
    }
  }

  /** Comments and strings, as the server marks them. */
  function colour(code, text) {
    code.replaceChildren();
    let end = 0;
    for (const match of text.matchAll(/((?<=^|\s)#.*$|(?<=^|\s)\/\/.*$)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/gm)) {
      const piece = document.createElement('span');
      piece.className = match[1] === undefined ? 'string' : 'comment';
      piece.textContent = match[0];
      code.append(text.slice(end, match.index), piece);
      end = match.index + match[0].length;
    }
    code.append(text.slice(end));
  }

  // Turns.

  function addTurn(role, name) {
    const turn = document.getElementById('turn').content.firstElementChild.cloneNode(true);
    turn.classList.add(role);
    turn.querySelector('.speaker').textContent = name;
    turns.append(turn);
    document.getElementById('start').hidden = true;
    turn.scrollIntoView({ block: 'nearest' });
    return turn;
  }

  function showFacts(turn, { id, usage, firstAfter, total, note }) {
    const parts = [note];
    if (usage) {
      const { prompt_tokens: read, completion_tokens: written } = usage;
      parts.push(fill(texts.tokens, { in: numbers.format(read), out: numbers.format(written) }));
    }
    if (firstAfter !== undefined) parts.push(fill(texts.first, { time: duration(firstAfter) }));
    parts.push(fill(texts.total, { time: duration(total) }));
    turn.querySelector('.facts-line span').textContent = `${parts.filter(Boolean).join(' · ')} · `;
    if (id) linkRequest(turn.querySelector('a'), id);
  }

  function linkRequest(link, id) {
    link.href = `/dashboard/requests/${encodeURIComponent(id)}`;
    link.hidden = false;
  }

  // Errors.

  const causes = { 0: 'unreachable', 401: 'signed_out', 402: 'no_plan', 403: 'blocked', 404: 'no_model', 413: 'too_long', 429: 'rate_limit' };

  function causeOf(status) {
    if (status >= 500 || status === 424) return 'failed';
    return causes[status] ?? 'refused';
  }

  function showError({ status, message, seconds, id }) {
    clearInterval(wait);
    const error = texts.errors[causeOf(status)];
    const box = document.getElementById(error.kind).content.firstElementChild.cloneNode(true);
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
      link.textContent = document.querySelector('#turn').content.querySelector('a').textContent.trim();
      linkRequest(link, id);
    }
    place.replaceChildren(box);
    if (status === 429) wait = setInterval(() => countDown(), 1000);

    function countDown() {
      seconds -= 1;
      if (seconds > 0) return write();
      clearInterval(wait);
      place.replaceChildren();
    }
  }

  async function readAnswer(response, turn, startedAt) {
    const output = turn.querySelector('.turn-text');
    const read = { text: '', id: response.headers.get('x-request-id'), isDone: false };
    turn.read = read;
    for await (const event of api.eventsOf(response)) {
      if (event.error) throw { broken: event.error.message };
      if (event.usage) read.usage = event.usage;
      const choice = event.choices?.[0];
      if (choice?.finish_reason) read.isDone = true;
      const { content, reasoning_content: thought } = choice?.delta ?? {};
      if (!content && thought && read.text === '') output.textContent = texts.thinking;
      if (!content) continue;
      read.firstAfter ??= performance.now() - startedAt;
      read.text += content;
      output.textContent = read.text;
      if (read.text.length >= bounds.answer) throw { isTruncated: true };
    }
    if (!read.isDone) throw { broken: '' };
    if (read.text === '') output.textContent = texts.noText;
    return read;
  }

  // Sending.

  function setRunning(controller) {
    running = controller;
    const isRunning = controller !== undefined;
    if (isRunning) send.setAttribute('aria-busy', 'true');
    else send.removeAttribute('aria-busy');
    if (!isRunning && document.activeElement === stop) field.focus();
    stop.hidden = !isRunning;
  }

  async function ask(text) {
    const model = form.elements.model.value;
    const controller = new AbortController();
    setRunning(controller);
    clearInterval(wait);
    place.replaceChildren();
    progress.textContent = '';
    for (const failed of turns.querySelectorAll('.unanswered')) failed.remove();
    const asked = [...messages, { role: 'user', content: text }].slice(-bounds.messages);
    const question = addTurn('user', form.dataset.you);
    question.querySelector('.turn-text').textContent = text;
    field.value = '';
    const startedAt = performance.now();
    let turn;
    const finish = (note = '') => {
      const read = turn.read;
      showFacts(turn, { ...read, total: performance.now() - startedAt, note });
      messages.push({ role: 'user', content: text }, { role: 'assistant', content: read.text });
      form.elements.history.value = JSON.stringify(messages.slice(-bounds.messages));
      progress.textContent = note || texts.done;
    };
    const giveUp = (error) => {
      question.classList.add('unanswered');
      field.value ||= text;
      if (error) showError(error);
    };
    try {
      const options = { stream: true, stream_options: { include_usage: true } };
      const response = await api.call({ model, messages: asked, ...options }, controller.signal);
      if (!response.ok) throw await api.refusalOf(response);
      turn = addTurn('assistant', model);
      turn.setAttribute('aria-busy', 'true');
      await readAnswer(response, turn, startedAt);
      finish();
    } catch (error) {
      const hasText = Boolean(turn?.read?.text);
      if (controller.signal.aborted || error.isTruncated) {
        controller.abort();
        if (hasText) finish(error.isTruncated ? texts.truncated : texts.stopped);
        else {
          turn?.remove();
          giveUp();
          progress.textContent = texts.stopped;
        }
      } else if (hasText) {
        question.classList.add('unanswered');
        turn.classList.add('unanswered');
        showFacts(turn, { ...turn.read, total: performance.now() - startedAt, note: texts.broken });
        field.value ||= text;
        progress.textContent = texts.broken;
      } else {
        const id = turn?.read?.id;
        turn?.remove();
        giveUp('broken' in error ? { status: 502, message: error.broken, id } : { status: 0, seconds: 1, ...pick(error) });
      }
    } finally {
      turn?.removeAttribute('aria-busy');
      setRunning(undefined);
      showCode();
    }
  }

  /** The details of a refusal; none for an error of the browser. */
  function pick(error) {
    return typeof error.status === 'number' ? error : {};
  }

  if (field !== null && form !== null) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text !== '' && running === undefined) void ask(text);
    });
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    field.addEventListener('input', showCode);
    stop.addEventListener('click', () => running?.abort());
  }
}
