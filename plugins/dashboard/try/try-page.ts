import type { Server } from '@hapi/hapi';
import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { quirksSchema } from '#core/config/catalog/quirks.ts';
import { codePieces } from '#core/web/pages/code-pieces.ts';
import { defineForm, FieldErrors, type Page, type PageForm, type PageRequest } from '#core/web/pages/page.ts';
import { createExampleCall } from '../code/example-call.ts';
import { codeLanguages, writeCode } from '../code/write-code.mjs';
import { describeNoPass } from '../models/models-page.ts';
import { buildRequestPath, tryPath } from '../paths.ts';
import { parseHistory, tryBounds, type TryMessage, encodeHistory } from './conversation.ts';
import { describeModels, isOffered, type SingleKind } from './describe-models.ts';
import { findCause, explainError, type TryError } from './explain-error.ts';
import { listScriptTexts } from './script-texts.ts';
import { sendConversation, type ChatResult } from './send-conversation.ts';

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly facts: string;
  readonly requestPath: string;
}

interface FormResult {
  readonly turns: readonly Turn[];
  readonly history: string;
  readonly error: TryError | undefined;
  readonly errorPath: string;
  readonly message: string; // text of the field: a message that got no answer
  readonly model: string;
}

const scripts = ['try-api', 'try-show', 'try-settings', 'try-code', 'try', 'try-kinds']; // in the order of their dependencies

export function createTryPage(server: Server): Page {
  return {
    path: tryPath,
    role: 'account',
    title: 'try.title',
    navigation: { label: 'try.title', icon: 'play', order: 35, isInBar: false },
    template: 'dashboard/try/page.eta',
    styles: ['dashboard/try/try.css'],
    scripts: scripts.map((name) => `dashboard/try/${name}.js`),
    show: async (request) => ({
      ...describePage(server, request, request.form.values['model'] ?? request.query['model']),
      noPass: await describeNoPass(request),
    }),
    forms: [createForm(server)],
  };
}

function createForm(server: Server): PageForm {
  return defineForm({
    // Only fields that work without scripts.
    fields: {
      type: 'object',
      properties: {
        model: { type: 'string', maxLength: 200 },
        message: { type: 'string', maxLength: tryBounds.message },
        history: { type: 'string' },
        system: { type: 'string', maxLength: tryBounds.message },
        temperature: { type: 'number', minimum: 0, maximum: 2 },
        max_tokens: { type: 'integer', minimum: 1 },
        choose: { type: 'string' },
      },
      required: ['model'],
    },
    async submit({ model: name, message, history, system, temperature, max_tokens: limit, choose }, request) {
      const model = request.host.catalog.resolve(name);
      if (model === undefined) throw new FieldErrors({ model: 'try.error_text.no_model' });
      if (choose !== undefined || !hasConversations(server, model))
        return describePage(server, request, name, parseHistory(history));
      if (message === undefined) throw new FieldErrors({ message: 'form.required' });
      const messages: TryMessage[] = [...parseHistory(history), { role: 'user', content: message }];
      const result = await sendConversation(server.listener, request, {
        model: model.publicName,
        messages: [
          ...(system === undefined ? [] : [{ role: 'system', content: system }]),
          ...messages.slice(-tryBounds.messages),
        ],
        ...(temperature !== undefined && { temperature }),
        ...(limit !== undefined && { max_tokens: limit }),
      });
      const values = { system: system ?? '', temperature: String(temperature ?? ''), max_tokens: String(limit ?? '') };
      const answerView = describeAnswer(result, messages, model.publicName, request);
      // The error already explains that the account has no pass.
      return { ...describePage(server, request, name, messages), values, ...answerView, noPass: undefined };
    },
  });
}

function hasConversations({ gateway }: Server, model: Model): boolean {
  return readAbilities(gateway, model).conversations.length > 0;
}

function describePage(
  server: Server,
  request: PageRequest,
  name: string | undefined,
  messages: readonly TryMessage[] = [],
) {
  const { host, t } = request;
  const models = host.catalog.models.filter((model) => isOffered(server.gateway, model));
  const requestedModel = name === undefined ? undefined : host.catalog.resolve(name);
  const model =
    models.find((candidate) => candidate === requestedModel) ?? models.find(({ kind }) => kind === 'chat') ?? models[0];
  if (model === undefined) return { isEmpty: true };
  const { efforts } = quirksSchema.properties;
  return {
    isEmpty: false,
    path: tryPath,
    tokenPath: `${tryPath}/token`,
    apiUrl: `${host.service.baseUrl}/v1`,
    routeHeader: `x-${host.service.slug}-route`,
    model: model.publicName,
    kind: model.kind,
    ...(model.kind !== 'chat' && describeKind(model.kind, t)),
    ...describeModels(server.gateway, models, t),
    efforts: efforts.items.enum.map((value) => ({ value, label: t(`try.effort.${value}`) })),
    values: { system: '', temperature: '', max_tokens: '' },
    maxMessage: tryBounds.message,
    bounds: JSON.stringify(tryBounds),
    texts: JSON.stringify(listScriptTexts(request)),
    sampleTool: JSON.stringify(sampleTool),
    sampleSchema: JSON.stringify(sampleSchema, undefined, 2),
    samples: describeCode(model, messages, request),
    turns: messages.map(describeTurn),
    history: encodeHistory(messages),
    message: request.form.values['message'] ?? '',
    error: undefined,
    errorPath: '',
  };
}

function describeKind(kind: SingleKind, t: PageRequest['t']) {
  return { about: t(`try.kind_text.${kind}`), field: kind === 'transcription' ? '' : t(`try.field.${kind}`) };
}

const sampleTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const sampleSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

function describeCode(model: Model, messages: readonly TryMessage[], { host, t }: PageRequest) {
  const example = createExampleCall(model, `${host.service.baseUrl}/v1`, t('try.example'));
  const call = messages.length === 0 ? example : { ...example, body: { ...example.body, messages } };
  return codeLanguages.map(({ id, label }) => ({
    id: `sample-${id}`,
    language: id,
    label,
    pieces: codePieces(writeCode(id, call)),
  }));
}

function describeTurn({ role, content }: TryMessage): Turn {
  return { role, text: content, facts: '', requestPath: '' };
}

function describeAnswer(
  result: ChatResult,
  messages: readonly TryMessage[],
  model: string,
  request: PageRequest,
): FormResult {
  const { t } = request;
  const path = result.id === '' ? '' : buildRequestPath(result.id);
  const earlierMessages = messages.slice(0, -1);
  const turns = messages.map(describeTurn);
  if (result.error !== undefined) {
    const { retryAfterSeconds: seconds, message } = result.error;
    const error = explainError(findCause(result.status), { seconds: Math.max(1, seconds ?? 1), message }, t);
    const unanswered = messages.at(-1)?.content ?? '';
    return { turns, history: encodeHistory(earlierMessages), error, errorPath: path, message: unanswered, model };
  }
  const answer: TryMessage = { role: 'assistant', content: result.answer };
  const text = result.answer === '' ? t('try.no_text') : result.answer;
  return {
    turns: [...turns, { role: 'assistant', text, facts: describeFacts(result, request), requestPath: path }],
    history: encodeHistory([...messages, answer]),
    error: undefined,
    errorPath: '',
    message: '',
    model,
  };
}

function describeFacts({ usage, durationMs }: ChatResult, { t, format }: PageRequest): string {
  const tokens = usage && t('try.tokens', { in: format.number(usage.input), out: format.number(usage.output) });
  return [tokens, t('try.total', { time: format.duration(durationMs).text })]
    .filter((part) => part !== undefined)
    .join(' · ');
}
