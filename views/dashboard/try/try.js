// The playground: sends the conversation to one or two models with a token of this session, and shows the answers as they
// come. Without this script the form does the same with one model, and the page shows the whole answer.
{
  const { form, texts, numbers, fill, duration, bytes, clone, element, bounds, isTalking } = globalThis.playground;
  const { api, settings, files, showText, showError, failureOf, linkRequest, routeOf, showCode } = globalThis.playground;

  /** A conversation with one model. Both have the same messages, but each its own answers. */
  const panes = [{ messages: JSON.parse(form?.elements.history?.value || '[]') }, { messages: [] }];
  /** Stops the running requests. */
  const running = new Set();
  const turns = document.getElementById('turns');
  const field = document.getElementById('message');
  const send = document.getElementById('send');
  const stop = document.getElementById('stop');
  const progress = document.getElementById('progress');

  const select = (index) => form.elements[index === 0 ? 'model' : 'second'];
  const isComparing = () => form.dataset.view === 'compare';
  const active = () => (isComparing() ? [0, 1] : [0]);
  const chosen = () => active().map((index) => select(index).value);

  // Messages.

  /** The content of the message that is being written. */
  function contentOf(text, parts) {
    return parts.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...parts];
  }

  /** The latest messages, from a question on: an answer or a result of a tool cannot come first. */
  function latest(messages) {
    const kept = messages.slice(-bounds.messages);
    const first = kept.findIndex(({ role }) => role === 'user');
    return first === -1 ? [] : kept.slice(first);
  }

  function bodyFor(model, messages) {
    const system = form.elements.system.value.trim();
    return {
      model,
      messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...latest(messages)],
      ...settings.optionsFor(model),
      stream: true,
    };
  }

  function writeCode() {
    const asked = contentOf(field.value.trim(), files.parts());
    const { messages } = panes[0];
    const isEmpty = asked === '' && messages.length === 0;
    const last = asked === '' && !isEmpty ? [] : [{ role: 'user', content: isEmpty ? form.dataset.example : asked }];
    try {
      void showCode('chat', bodyFor(select(0).value, [...messages, ...last]));
    } catch (error) {
      // The field that is wrong says so; the code keeps the last settings that were right.
      if (!error.isInvalid) throw error;
    }
  }

  // Turns.

  function addTurn(text, sent) {
    const turn = clone('user-turn');
    turn.querySelector('.turn-text').textContent = text;
    for (const file of sent) {
      const item = element('li', '', '');
      item.append(clone('file-icon'), element('span', 'file-name', file.name), element('span', 'soft small', bytes(file.size)));
      turn.querySelector('.sent-files').append(item);
    }
    const answers = element('div', active().length > 1 ? 'answers two' : 'answers', '');
    const item = element('li', 'turn', '');
    item.append(turn, answers);
    turns.append(item);
    document.getElementById('start').hidden = true;
    return answers;
  }

  function addAnswer(place, model) {
    const card = clone('answer');
    card.querySelector('.speaker').textContent = model;
    place.append(card);
    place.closest('.turn').scrollIntoView({ block: 'nearest' });
    return card;
  }

  function showFigures(card, { firstAfter, usage, startedAt, endedAt }) {
    const put = (name, text) => (card.querySelector(`[data-figure=${name}]`).textContent = text);
    if (firstAfter !== undefined) put('first', duration(firstAfter));
    if (usage) put('out', numbers.format(usage.completion_tokens));
    if (endedAt === undefined) return;
    const total = endedAt - startedAt;
    put('total', duration(total));
    const streamed = total - (firstAfter ?? total);
    if (usage && usage.completion_tokens > 1 && streamed >= 100)
      put('speed', fill(texts.speed, { count: numbers.format(Math.round((usage.completion_tokens * 1000) / streamed)) }));
  }

  // Reading an answer.

  function addCalls(calls, deltas) {
    for (const { index = 0, id, function: part } of deltas) {
      calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
      if (id) calls[index].id = id;
      calls[index].function.name += part?.name ?? '';
      calls[index].function.arguments += part?.arguments ?? '';
    }
  }

  async function readAnswer(response, card, read) {
    const output = card.querySelector('.turn-text');
    let shownAt = 0;
    const show = () => {
      shownAt = performance.now();
      showText(output, read.text);
    };
    for await (const event of api.eventsOf(response)) {
      if (event.error) throw { broken: event.error.message, id: read.id };
      if (event.usage) read.usage = event.usage;
      const choice = event.choices?.[0];
      if (choice?.finish_reason) read.isDone = true;
      const { content, reasoning_content: thought, tool_calls: calls } = choice?.delta ?? {};
      if (content || thought || calls) read.firstAfter ??= performance.now() - read.startedAt;
      if (thought) showThought(card, read, thought);
      if (calls) addCalls(read.calls, calls);
      if (!content) continue;
      endThought(card, read);
      read.text += content;
      showFigures(card, read);
      // An answer that is long is not drawn again for each of its words.
      if (performance.now() - shownAt > Math.min(500, read.text.length / 100)) show();
      if (read.text.length >= bounds.answer) throw { isTruncated: true };
    }
    show();
    endThought(card, read);
    if (!read.isDone) throw { broken: '', id: read.id };
  }

  function showThought(card, read, thought) {
    const box = card.querySelector('.thought');
    box.hidden = false;
    read.thinkingSince ??= performance.now();
    read.thought = (read.thought + thought).slice(-bounds.answer);
    box.querySelector('summary').textContent = texts.thinking;
    box.querySelector('p').textContent = read.thought;
    showFigures(card, read);
  }

  function endThought(card, read) {
    if (read.thinkingSince === undefined || read.hasThought) return;
    read.hasThought = true;
    const time = duration(performance.now() - read.thinkingSince);
    card.querySelector('.thought summary').textContent = fill(texts.thought, { time });
  }

  /** Calls of tools, each with a field for what the tool would return. */
  function showCalls(pane, index, card, calls) {
    const place = card.querySelector('.calls');
    for (const [number, call] of calls.entries()) {
      const box = clone('call');
      box.querySelector('code').textContent = call.function.name;
      box.querySelector('pre').textContent = call.function.arguments;
      const result = box.querySelector('textarea');
      result.id = `result-${crypto.randomUUID()}`;
      box.querySelector('label').htmlFor = result.id;
      box.querySelector('button').hidden = number < calls.length - 1;
      box.querySelector('button').addEventListener('click', () => {
        if (running.size > 0) return;
        const results = [...place.querySelectorAll('textarea')].map((one) => one.value);
        pane.messages.push(...calls.map(({ id }, at) => ({ role: 'tool', tool_call_id: id, content: results[at] ?? '' })));
        for (const control of place.querySelectorAll('textarea, button')) control.disabled = true;
        void run(index, addAnswer(card.parentElement, card.querySelector('.speaker').textContent));
      });
      place.append(box);
    }
  }

  // Sending.

  function showRunning() {
    const isRunning = running.size > 0;
    if (isRunning) send.setAttribute('aria-busy', 'true');
    else send.removeAttribute('aria-busy');
    if (!isRunning && document.activeElement === stop) field.focus();
    stop.hidden = !isRunning;
  }

  /** Asks the model of a pane what its messages ask, and shows the answer in a card. */
  async function run(index, card) {
    const pane = panes[index];
    const model = card.querySelector('.speaker').textContent;
    const controller = new AbortController();
    const read = { text: '', thought: '', calls: [], startedAt: performance.now() };
    const retry = card.querySelector('.retry');
    card.setAttribute('aria-busy', 'true');
    retry.addEventListener('click', () => void again(index, card), { once: true });
    retry.hidden = true;
    running.add(controller);
    showRunning();
    let note = '';
    try {
      const options = { ...bodyFor(model, pane.messages), stream_options: { include_usage: true } };
      const response = await api.call('/chat/completions', options, controller.signal);
      if (!response.ok) throw await api.refusalOf(response);
      read.id = response.headers.get('x-request-id');
      card.querySelector('.route').textContent = routeOf(response);
      await readAnswer(response, card, read);
      if (read.text === '' && read.calls.length === 0) card.querySelector('.turn-text').textContent = texts.noText;
    } catch (error) {
      if (error.isInvalid) error.field.focus();
      else if (error.isTruncated) {
        controller.abort();
        note = texts.truncated;
      } else if (controller.signal.aborted) note = texts.stopped;
      else {
        pane.endCountdown = showError(card.querySelector('.answer-error'), failureOf(error));
        pane.hasFailed = true;
        note = read.text === '' ? '' : texts.broken;
      }
    } finally {
      finish(index, card, read, note);
      running.delete(controller);
      showRunning();
      writeCode();
    }
  }

  function finish(index, card, read, note) {
    const pane = panes[index];
    card.removeAttribute('aria-busy');
    read.endedAt = performance.now();
    showFigures(card, read);
    if (read.text !== '') showText(card.querySelector('.turn-text'), read.text);
    card.querySelector('.note').textContent = note;
    if (read.id) linkRequest(card.querySelector('.open'), read.id);
    offerCopy(card, read.text);
    const calls = read.isDone ? read.calls.filter(Boolean) : [];
    // What broke off is shown, but is no answer to go on from.
    pane.isAnswered = !pane.hasFailed && (read.text !== '' || calls.length > 0);
    pane.hasFailed = false;
    if (pane.isAnswered)
      pane.messages.push({ role: 'assistant', content: read.text, ...(calls.length > 0 && { tool_calls: calls }) });
    if (index === 0) form.elements.history.value = JSON.stringify(panes[0].messages.filter(({ content, role }) => role !== 'tool' && typeof content === 'string').slice(-bounds.messages));
    if (calls.length > 0) showCalls(pane, index, card, calls);
    for (const other of turns.querySelectorAll(`[data-pane="${index}"] .retry`)) other.hidden = true;
    const retry = card.querySelector('.retry');
    retry.hidden = false;
    progress.textContent = note || (pane.isAnswered ? texts.done : '');
  }

  /** The whole text, with the marks that are not shown. `page.js` copies it. */
  function offerCopy(card, text) {
    const output = card.querySelector('.turn-text');
    const button = card.querySelector('.copy');
    output.id = `answer-${crypto.randomUUID()}`;
    output.dataset.value = text;
    button.dataset.copy = `#${output.id}`;
    button.hidden = text === '' || navigator.clipboard === undefined;
  }

  /** The same question once more: the former answer of this pane is forgotten. */
  function again(index, card) {
    if (running.size > 0) return;
    const pane = panes[index];
    if (pane.isAnswered) pane.messages.pop();
    pane.isAnswered = false;
    pane.endCountdown?.();
    const fresh = clone('answer');
    fresh.querySelector('.speaker').textContent = select(index).value;
    fresh.dataset.pane = index;
    card.replaceWith(fresh);
    void run(index, fresh);
  }

  function ask() {
    const text = field.value.trim();
    if (running.size > 0 || (text === '' && files.parts().length === 0)) return;
    let sent;
    try {
      for (const model of chosen()) settings.optionsFor(model);
      sent = files.take(chosen());
    } catch (error) {
      if (!error.isInvalid) throw error;
      error.field.closest('details')?.setAttribute('open', '');
      return error.field.focus();
    }
    const answers = addTurn(text, sent);
    const content = contentOf(text, sent.map(({ part }) => part));
    field.value = '';
    progress.textContent = '';
    for (const index of active()) {
      const pane = panes[index];
      pane.endCountdown?.();
      // A question without an answer is not asked a second time along with the next one.
      if (pane.messages.at(-1)?.role === 'user') pane.messages.pop();
      pane.messages.push({ role: 'user', content });
      const card = addAnswer(answers, select(index).value);
      card.dataset.pane = index;
      void run(index, card);
    }
  }

  // Views.

  function choose(next) {
    if (next === 'compare' && !isComparing()) panes[1].messages = structuredClone(panes[0].messages);
    if (next !== 'code') form.dataset.view = next;
    document.getElementById('second-box').hidden = !isComparing();
    document.getElementById('talk').hidden = next === 'code';
    document.getElementById('code').hidden = next !== 'code';
    for (const button of document.querySelectorAll('#views button')) {
      if (button.dataset.view === next) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    field.placeholder = isComparing() ? texts.askBoth : texts.ask;
    follow();
  }

  function follow() {
    settings.noteLimits(chosen());
    writeCode();
  }

  /** A model of another kind has another form. */
  function followModel() {
    const option = select(0).selectedOptions[0];
    if (option.dataset.kind !== form.dataset.kind) location.assign(`${form.action}?model=${encodeURIComponent(option.value)}`);
    else if (isTalking) follow();
  }

  function start() {
    const second = select(1);
    for (const option of select(0).options) if (option.dataset.kind === 'chat') second.append(option.cloneNode(true));
    second.selectedIndex = second.options.length > 1 && second.options[0].value === select(0).value ? 1 : 0;
    second.addEventListener('change', follow);
    const views = document.getElementById('views');
    views.hidden = false;
    views.querySelector('[data-view=compare]').hidden = second.options.length < 2;
    for (const button of views.querySelectorAll('button')) button.addEventListener('click', () => choose(button.dataset.view));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      ask();
    });
    form.addEventListener('input', writeCode);
    form.addEventListener('settings-changed', writeCode);
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    const attach = document.getElementById('attach');
    attach.addEventListener('change', () => {
      void files.add([...attach.files], chosen());
      attach.value = '';
    });
    field.addEventListener('paste', ({ clipboardData }) => {
      if (clipboardData.files.length > 0) void files.add([...clipboardData.files], chosen());
    });
    stop.addEventListener('click', () => {
      for (const controller of running) controller.abort();
    });
    if (matchMedia('(max-width: 959px)').matches) document.getElementById('settings').open = false;
    choose('one');
  }

  /** Back shows the form as it was left, with a model whose form this may not be. */
  function restoreModel() {
    const model = select(0);
    if (model.selectedOptions[0]?.dataset.kind !== form.dataset.kind)
      model.selectedIndex = [...model.options].findIndex(({ defaultSelected }) => defaultSelected);
    if (isTalking) follow();
  }

  if (form !== null) {
    form.elements.model.addEventListener('change', followModel);
    addEventListener('pageshow', restoreModel);
  }
  if (isTalking) start();
}
