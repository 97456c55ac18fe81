import type { Server } from '@hapi/hapi';
import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import { defineForm, FieldErrors, type Page, type PageForm, type PageRequest } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { requestPath, tryPath } from '../paths.ts';
import { ask, type Asked } from './ask.ts';
import { readHistory, tryBounds, type TryMessage, writeHistory } from './conversation.ts';
import { causeOf, explainError, tryCauses, type TryError } from './explain-error.ts';
import { conversationSamples, fillSample, imageSamples } from './samples.ts';

/** A message or an answer, ready to be printed. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly facts: string;
  readonly requestPath: string;
}

/** What the form adds to the page. */
interface Answered {
  readonly turns: readonly Turn[];
  readonly history: string;
  readonly error: TryError | undefined;
  readonly errorPath: string;
  /** What stays in the field: a message that was not answered. */
  readonly message: string;
  readonly model: string;
}

/** `/dashboard/try`: a conversation with a model, through the API. */
export function createTryPage(server: Server): Page {
  return {
    path: tryPath,
    role: 'account',
    title: 'try.title',
    navigation: { label: 'try.title', icon: 'play', order: 35, isInBar: false },
    template: viewPath('dashboard/try/page.eta'),
    styles: ['try.css'],
    scripts: ['try-api.js', 'try.js'],
    show: (request) => describePage(server, request, request.form.values['model'] ?? request.query['model']),
    forms: [createForm(server)],
  };
}

function createForm(server: Server): PageForm {
  return defineForm({
    fields: {
      type: 'object',
      properties: {
        model: { type: 'string', maxLength: 200 },
        message: { type: 'string', minLength: 1, maxLength: tryBounds.message },
        history: { type: 'string' },
      },
      required: ['model'],
    },
    async submit({ model: name, message, history }, request) {
      const model = request.host.catalog.resolve(name);
      if (model === undefined) throw new FieldErrors({ model: 'try.error_text.no_model' });
      if (!canTalk(server, model)) return describePage(server, request, name);
      if (message === undefined) throw new FieldErrors({ message: 'form.required' });
      const messages: TryMessage[] = [...readHistory(history), { role: 'user', content: message }];
      const asked = await ask(server.listener, request, model.publicName, messages.slice(-tryBounds.messages));
      const answered = describeAnswer(asked, messages, model.publicName, request);
      return { ...describePage(server, request, name, messages), ...answered };
    },
  });
}

function canTalk({ gateway }: Server, model: Model): boolean {
  return readAbilities(gateway, model).conversations.length > 0;
}

/** @param name of the model that was chosen @param messages of the conversation so far */
function describePage(
  server: Server,
  request: PageRequest,
  name: string | undefined,
  messages: readonly TryMessage[] = [],
) {
  const { host, t } = request;
  // The page shows no calls with files or recordings.
  const models = host.catalog.models.filter(({ kind }) => kind === 'chat' || kind === 'image');
  const talking = models.filter((model) => canTalk(server, model));
  const named = name === undefined ? undefined : host.catalog.resolve(name);
  const model = models.find((one) => one === named) ?? talking[0] ?? models[0];
  if (model === undefined) return { isEmpty: true };
  const isTalking = canTalk(server, model);
  const apiUrl = `${host.service.baseUrl}/v1`;
  const samples = isTalking ? conversationSamples(apiUrl) : imageSamples(apiUrl);
  const shown: readonly TryMessage[] = messages.length > 0 ? messages : [{ role: 'user', content: t('try.example') }];
  return {
    isEmpty: false,
    path: tryPath,
    tokenPath: `${tryPath}/token`,
    model: model.publicName,
    models: talking.map(({ publicName }) => publicName),
    silent: models.filter((one) => !talking.includes(one)).map(({ publicName }) => publicName),
    isTalking,
    maxMessage: tryBounds.message,
    bounds: JSON.stringify(tryBounds),
    texts: JSON.stringify(scriptTexts(request)),
    samples: samples.map(({ id, label, template }) => ({
      id: `sample-${id}`,
      label,
      template,
      pieces: codePieces(fillSample(template, model.publicName, shown, isTalking)),
    })),
    turns: messages.map((one) => ({ role: one.role, text: one.content, facts: '', requestPath: '' })),
    history: writeHistory(messages),
    message: request.form.values['message'] ?? '',
    error: undefined,
    errorPath: '',
  };
}

function describeAnswer(asked: Asked, messages: readonly TryMessage[], model: string, request: PageRequest): Answered {
  const { t } = request;
  const path = asked.id === '' ? '' : requestPath(asked.id);
  const before = messages.slice(0, -1);
  const turns = messages.map((one): Turn => ({ role: one.role, text: one.content, facts: '', requestPath: '' }));
  if (asked.error !== undefined) {
    const { retryAfter: seconds, message } = asked.error;
    const error = explainError(causeOf(asked.status), { seconds: Math.max(1, seconds ?? 1), message }, t);
    const unanswered = messages.at(-1)?.content ?? '';
    return { turns, history: writeHistory(before), error, errorPath: path, message: unanswered, model };
  }
  const answer: TryMessage = { role: 'assistant', content: asked.answer };
  const text = asked.answer === '' ? t('try.no_text') : asked.answer;
  return {
    turns: [...turns, { role: 'assistant', text, facts: factsOf(asked, request), requestPath: path }],
    history: writeHistory([...messages, answer]),
    error: undefined,
    errorPath: '',
    message: '',
    model,
  };
}

/** `12 in · 84 out · 1.8 s`. */
function factsOf({ usage, duration }: Asked, { t, format }: PageRequest): string {
  const tokens = usage && t('try.tokens', { in: format.number(usage.input), out: format.number(usage.output) });
  return [tokens, t('try.total', { time: format.duration(duration).text })]
    .filter((part) => part !== undefined)
    .join(' · ');
}

/** The texts of the page's script. Placeholders in braces are filled there. */
function scriptTexts({ t, format }: Pick<PageRequest, 't' | 'format'>) {
  return {
    errors: Object.fromEntries(tryCauses.map((cause) => [cause, explainError(cause, {}, t)])),
    tokens: t('try.tokens'),
    first: t('try.first'),
    total: t('try.total'),
    stopped: t('try.stopped'),
    broken: t('try.broken'),
    truncated: t('try.truncated'),
    noText: t('try.no_text'),
    thinking: t('try.thinking'),
    done: t('try.done'),
    units: { ms: format.duration(1).unit, s: format.duration(2_000).unit },
  };
}
