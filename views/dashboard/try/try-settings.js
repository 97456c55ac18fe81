// Settings of a conversation, as far as the chosen models take them, and the files of a message.
{
  const { form, texts, fill, bytes, numbers, element } = globalThis.playground;
  const bounds = JSON.parse(form?.dataset.bounds ?? '{}');
  const facts = JSON.parse(form?.dataset.facts ?? '[]');
  const isTalking = form?.dataset.kind === 'chat';
  const fields = form?.elements ?? {};
  const models = fields.model;

  const factsOf = (name) =>
    facts[[...models.options].find((option) => option.value === name)?.dataset.facts] ?? {};

  /** Parts of a setting's control and what each model must be able to do for it. */
  const needs = {
    temperature: (model) => model.sampling,
    reasoning: (model) => model.efforts.length > 0,
    schema: (model) => model.json,
    tools: (model) => model.tools,
  };

  /** Beside a control, the models that do not take it. It stays in use for the others. */
  function noteLimits(chosen) {
    for (const [name, takes] of Object.entries(needs)) {
      const without = chosen.filter((model) => !takes(factsOf(model)));
      const note = document.querySelector(`[data-note=${name}]`);
      note.textContent = without.length === 0 ? '' : fill(texts.notFor, { models: without.join(', ') });
      for (const control of document.querySelectorAll(`[data-needs=${name}]`))
        control.disabled = without.length === chosen.length;
    }
    const efforts = new Set(chosen.flatMap((model) => factsOf(model).efforts));
    for (const option of fields.reasoning_effort.options) option.hidden = option.value !== '' && !efforts.has(option.value);
    if (fields.reasoning_effort.selectedOptions[0]?.hidden) fields.reasoning_effort.value = '';
    const most = Math.max(...chosen.map((model) => factsOf(model).maxOutput ?? 0));
    fields.max_tokens.max = most > 0 ? most : '';
    fields.max_tokens_range.max = most > 0 ? most : 32_000;
  }

  function parseJson(field, isRight, text) {
    const place = document.getElementById(`${field.id}-error`);
    field.removeAttribute('aria-invalid');
    place.textContent = '';
    if (field.value.trim() === '') return undefined;
    try {
      const value = JSON.parse(field.value);
      if (isRight(value)) return value;
    } catch {
      // The same text explains both.
    }
    field.setAttribute('aria-invalid', 'true');
    place.textContent = text;
    throw { isInvalid: true, field };
  }

  function isTool(tool) {
    return tool?.type === 'function' && typeof tool.function?.name === 'string';
  }

  function readTools() {
    return parseJson(fields.tools, (value) => Array.isArray(value) && value.length > 0 && value.every(isTool), texts.wrongTools);
  }

  function readSchema() {
    if (fields.answer_as.value !== 'schema') return undefined;
    return parseJson(fields.schema, (value) => typeof value === 'object' && value !== null && !Array.isArray(value), texts.wrongSchema);
  }

  function listTools() {
    const place = document.getElementById('tool-list');
    place.replaceChildren();
    try {
      for (const tool of readTools() ?? []) {
        const item = element('li', '', '');
        const count = Object.keys(tool.function.parameters?.properties ?? {}).length;
        item.append(element('code', '', tool.function.name), element('span', 'soft small', fill(count === 1 ? texts.parameter : texts.parameters, { count: numbers.format(count) })));
        place.append(item);
      }
    } catch (error) {
      if (!error.isInvalid) throw error;
    }
  }

  /** The members of a request that the settings make. @throws what names the field that is wrong */
  function optionsFor(model) {
    const takes = factsOf(model);
    const options = {};
    const { temperature, max_tokens: limit, reasoning_effort: effort } = fields;
    if (takes.sampling && temperature.value !== '') options.temperature = Number(temperature.value);
    if (limit.value !== '') options.max_tokens = Math.min(Number(limit.value), takes.maxOutput ?? Infinity);
    if (effort.value !== '' && takes.efforts.includes(effort.value)) options.reasoning_effort = effort.value;
    const schema = takes.json ? readSchema() : undefined;
    if (schema !== undefined) options.response_format = { type: 'json_schema', json_schema: { name: 'answer', schema } };
    const tools = takes.tools ? readTools() : undefined;
    if (tools !== undefined) options.tools = tools;
    return options;
  }

  // Files.

  let files = [];
  const list = document.getElementById('files');
  const complaint = document.getElementById('files-error');

  function dataUrl(file) {
    return new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.addEventListener('load', () => resolve(reader.result));
      reader.addEventListener('error', () => reject(reader.error));
      reader.readAsDataURL(file);
    });
  }

  /** What a file is to a model: the ability that it takes, and its part of a message. */
  function kindOf({ type, name }) {
    if (/^image\/(png|jpeg|webp|gif)$/.test(type)) return 'images';
    if (type === 'application/pdf') return 'files';
    if (/^audio\/(mpeg|mp3|wav|x-wav|wave)$/.test(type)) return 'audio';
    // Browsers take .ts for a film, and know no type for much of what programs are made of.
    const isText = type === '' || /^text\/|json|xml|yaml|script|sql|toml/.test(type) || /\.[cm]?tsx?$/i.test(name);
    return isText ? 'text' : undefined;
  }

  async function partOf(file, kind) {
    if (kind === 'text') {
      const text = await file.text();
      if (text.includes('\u0000')) return undefined;
      return { type: 'text', text: `${file.name}\n\`\`\`\n${text}\n\`\`\`` };
    }
    const url = await dataUrl(file);
    if (kind === 'images') return { type: 'image_url', image_url: { url } };
    if (kind === 'files') return { type: 'file', file: { filename: file.name, file_data: url } };
    return { type: 'input_audio', input_audio: { data: url.slice(url.indexOf(',') + 1), format: /wav/.test(file.type) ? 'wav' : 'mp3' } };
  }

  /** Why a file cannot be sent; '' when it can. */
  function objectionTo(file, kind, chosen) {
    const values = { name: file.name, limit: bytes(kind === 'text' ? bounds.textFile : bounds.file) };
    if (kind === undefined) return fill(texts.wrongFile, values);
    if (file.size > (kind === 'text' ? bounds.textFile : bounds.file)) return fill(texts.largeFile, values);
    if (files.length >= bounds.files) return fill(texts.manyFiles, { count: numbers.format(bounds.files) });
    if (files.reduce((sum, { size }) => sum + size, file.size) > bounds.allFiles) return fill(texts.allFiles, { limit: bytes(bounds.allFiles) });
    const blind = kind === 'text' ? undefined : chosen.find((model) => !factsOf(model)[kind]);
    return blind === undefined ? '' : fill(texts.takesNo[kind], { model: blind });
  }

  async function addFiles(added, chosen) {
    complaint.textContent = '';
    for (const file of added) {
      const kind = kindOf(file);
      let objection = objectionTo(file, kind, chosen);
      const part = objection === '' ? await partOf(file, kind).catch(() => undefined) : undefined;
      if (objection === '' && part === undefined) objection = fill(texts.wrongFile, { name: file.name });
      if (objection === '') files.push({ name: file.name, size: file.size, kind, part });
      else complaint.textContent = objection;
    }
    listFiles();
  }

  function listFiles() {
    list.replaceChildren();
    for (const file of files) {
      const item = element('li', '', '');
      const remove = globalThis.playground.clone('remove');
      remove.setAttribute('aria-label', fill(texts.removeFile, { name: file.name }));
      remove.addEventListener('click', () => {
        files = files.filter((one) => one !== file);
        listFiles();
        document.getElementById('attach').focus();
      });
      item.append(globalThis.playground.clone('file-icon'), element('span', 'file-name', file.name), element('span', 'soft small', bytes(file.size)), remove);
      list.append(item);
    }
    form.dispatchEvent(new CustomEvent('settings-changed'));
  }

  /** The files of the message, which then has none. @throws the objection of a model that was chosen later */
  function takeFiles(chosen) {
    for (const file of files) {
      const blind = file.kind === 'text' ? undefined : chosen.find((model) => !factsOf(model)[file.kind]);
      if (blind === undefined) continue;
      complaint.textContent = fill(texts.takesNo[file.kind], { model: blind });
      throw { isInvalid: true, field: document.getElementById('attach') };
    }
    const taken = files;
    files = [];
    complaint.textContent = '';
    listFiles();
    return taken;
  }

  if (isTalking) {
    for (const part of form.querySelectorAll('[data-scripted]')) part.hidden = false;
    for (const [range, field] of [['temperature_range', 'temperature'], ['max_tokens_range', 'max_tokens']]) {
      fields[range].addEventListener('input', () => (fields[field].value = fields[range].value));
      fields[field].addEventListener('input', () => (fields[range].value = fields[field].value || fields[range].defaultValue));
    }
    fields.tools.addEventListener('input', listTools);
    document.getElementById('add-tool').addEventListener('click', () => {
      let tools = [];
      try {
        tools = readTools() ?? [];
      } catch {
        return fields.tools.focus();
      }
      fields.tools.value = JSON.stringify([...tools, JSON.parse(form.dataset.sampleTool)], undefined, 2);
      listTools();
      form.dispatchEvent(new CustomEvent('settings-changed'));
    });
    const followForm = () => (document.getElementById('schema-box').hidden = fields.answer_as.value !== 'schema');
    for (const choice of fields.answer_as) choice.addEventListener('change', followForm);
    followForm();
    listTools();
  }

  Object.assign(globalThis.playground, {
    bounds,
    isTalking,
    settings: { noteLimits, optionsFor },
    files: { add: addFiles, take: takeFiles, parts: () => files.map(({ part }) => part) },
  });
}
