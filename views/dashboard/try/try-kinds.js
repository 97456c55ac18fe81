// The playground of models that are not for conversations: one request, and its result.
{
  const { form, texts, numbers, fill, duration, bytes, clone, element } = globalThis.playground;
  const { api, bounds, isTalking, showError, failureOf, linkRequest, routeOf, showCode } = globalThis.playground;
  const kind = form?.dataset.kind;
  const fields = form?.elements ?? {};
  const value = (name) => fields[name]?.value.trim() ?? '';
  const lines = (name) => value(name).split('\n').map((line) => line.trim()).filter((line) => line !== '').slice(0, bounds.lines);

  /** The members of a request beside the model. */
  const bodies = {
    embedding: () => ({ input: lines('message') }),
    image: () => ({ prompt: value('message'), ...(value('size') !== '' && { size: value('size') }) }),
    speech: () => ({ input: value('message'), voice: value('voice') || 'alloy' }),
    transcription: () => ({}),
    rerank: () => ({ query: value('message'), documents: lines('documents') }),
    moderation: () => ({ input: value('message') }),
  };

  function row(list, ...cells) {
    const item = element('li', '', '');
    item.append(...cells);
    list.append(item);
  }

  function product(one, other) {
    return one.reduce((sum, number, index) => sum + number * (other[index] ?? 0), 0);
  }

  function cosine(one, other) {
    return product(one, other) / Math.sqrt(product(one, one) * product(other, other));
  }

  const three = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 3, maximumFractionDigits: 3 });

  /** Lists what the model has returned. */
  const shown = {
    async embedding(response, place) {
      const { data } = await response.json();
      const list = element('ol', 'results', '');
      const first = data[0]?.embedding ?? [];
      for (const [index, { embedding }] of data.entries()) {
        const text = element('span', 'result-text', lines('message')[index] ?? '');
        const numbersOf = element('code', 'soft', `[${embedding.slice(0, 4).map((number) => three.format(number)).join('  ')}  …]`);
        row(list, text, element('span', 'number', index === 0 ? '' : fill(texts.similar, { score: three.format(cosine(first, embedding)) })), numbersOf);
      }
      place.append(element('p', '', fill(texts.dimensions, { count: numbers.format(first.length) })), list);
    },

    async image(response, place) {
      const { data = [] } = await response.json();
      for (const { b64_json: base64, url } of data) {
        if (base64) {
          const image = element('img', 'made-image', '');
          image.alt = value('message');
          const type = base64.startsWith('/9j/') ? 'jpeg' : base64.startsWith('UklGR') ? 'webp' : 'png';
          image.src = `data:image/${type};base64,${base64}`;
          place.append(image);
        } else if (url?.startsWith('https:')) {
          // Pages load nothing from elsewhere.
          const link = element('a', '', texts.openImage);
          link.href = url;
          link.rel = 'noreferrer noopener';
          link.target = '_blank';
          place.append(link);
        }
      }
    },

    async speech(response, place) {
      const file = await response.blob();
      const link = element('a', 'button', fill(texts.saveSpeech, { size: bytes(file.size) }));
      link.href = URL.createObjectURL(file);
      link.download = 'speech.mp3';
      place.append(link);
    },

    async transcription(response, place) {
      const { text } = await response.json();
      place.append(element('p', 'turn-text', text || texts.noText));
    },

    async rerank(response, place) {
      const { results = [] } = await response.json();
      const documents = lines('documents');
      const list = element('ol', 'results', '');
      for (const { index, relevance_score: score } of results)
        row(list, element('span', 'result-text', documents[index] ?? ''), element('span', 'number', three.format(score)));
      place.append(list);
    },

    async moderation(response, place) {
      const { results = [] } = await response.json();
      const [result = {}] = results;
      const scores = Object.entries(result.category_scores ?? {}).toSorted(([, one], [, other]) => other - one);
      place.append(element('p', 'strong', result.flagged ? texts.flagged : texts.unflagged));
      const list = element('ol', 'results', '');
      for (const [name, score] of scores)
        row(list, element('span', 'result-text', name), element('span', 'number', three.format(score)));
      place.append(list);
    },
  };

  const send = document.getElementById('send');
  const stop = document.getElementById('stop');
  const place = document.getElementById('results');
  const progress = document.getElementById('progress');
  let running;
  let endCountdown;

  function describeBody() {
    return { model: fields.model.value, ...bodies[kind]() };
  }

  function writeCode() {
    const body = describeBody();
    if (value('message') === '' && kind !== 'transcription') {
      const name = { embedding: 'input', image: 'prompt', rerank: 'query' }[kind] ?? 'input';
      body[name] = kind === 'embedding' ? [form.dataset.example] : form.dataset.example;
    }
    void showCode(kind, body);
  }

  /** The request: JSON, or a form with the file. Undefined when the file is missing or too large. */
  function requestOf() {
    const body = describeBody();
    if (kind !== 'transcription') return body;
    const [file] = fields.recording.files;
    const complaint = document.getElementById('recording-error');
    complaint.textContent = '';
    if (file === undefined) complaint.textContent = texts.noRecording;
    else if (file.size > bounds.recording)
      complaint.textContent = fill(texts.largeFile, { name: file.name, limit: bytes(bounds.recording) });
    if (complaint.textContent !== '') return fields.recording.focus();
    const data = new FormData();
    for (const [name, text] of Object.entries(body)) data.append(name, text);
    data.append('file', file);
    return data;
  }

  function setRunning(controller) {
    running = controller;
    stop.hidden = controller === undefined;
    if (controller === undefined) send.removeAttribute('aria-busy');
    else send.setAttribute('aria-busy', 'true');
  }

  async function run() {
    const body = requestOf();
    if (running !== undefined || body === undefined) return;
    endCountdown?.();
    const controller = new AbortController();
    setRunning(controller);
    const card = clone('result');
    place.prepend(card);
    const startedAt = performance.now();
    let note = '';
    try {
      const { paths } = await import(form.dataset.writer);
      const response = await api.call(paths[kind], body, controller.signal);
      if (!response.ok) throw await api.refusalOf(response);
      const id = response.headers.get('x-request-id');
      card.querySelector('.route').textContent = routeOf(response);
      await shown[kind](response, card.querySelector('.made'));
      if (id) linkRequest(card.querySelector('.open'), id);
      note = fill(texts.total, { time: duration(performance.now() - startedAt) });
      progress.textContent = texts.done;
    } catch (error) {
      if (controller.signal.aborted) note = texts.stopped;
      else endCountdown = showError(card.querySelector('.answer-error'), failureOf(error));
    } finally {
      card.querySelector('.note').textContent = note;
      setRunning(undefined);
    }
  }

  if (form !== null && !isTalking) {
    for (const part of form.querySelectorAll('[data-scripted]')) part.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void run();
    });
    form.addEventListener('input', writeCode);
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    stop.addEventListener('click', () => running?.abort());
    writeCode();
  }
}
