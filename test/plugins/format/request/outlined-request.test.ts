import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { createOutline } from '#core/platform/json-outline/outline.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { deriveOrigin, tagState } from '../../../../plugins/format/canonical/opaque-state.ts';
import { checkParameters } from '../../../../plugins/format/formats/contract/parameters.ts';
import { encodeSignature } from '../../../../plugins/format/formats/gemini/request/thought-signature.ts';
import { ClientRequest } from '../../../../plugins/format/request/client-request.ts';
import { RequestContent } from '../../../../plugins/format/request/request-content.ts';
import { adaptRequest, isPassedThrough } from '../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { rewriteModel } from '../../../../plugins/format/routes/pass-through/rewrite-model.ts';
import { vendors } from '../../../../plugins/upstream/vendors.ts';
import { conversational, type TextFormat, textFormats } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { sampleRequest } from '../invariants/conversations.ts';

const long = 'Say "hello" — and\n\\ or ü '.repeat(20);
const settings: readonly [string, ProfileSettings[]][] = vendors.flatMap((vendor) => [
  [vendor.name, [vendor]] as [string, ProfileSettings[]],
  ...(vendor.models ?? []).map(
    ({ match, ...of }) => [`${vendor.name}/${match}`, [vendor, of]] as [string, ProfileSettings[]],
  ),
]);

/** The value with every text in it longer, but for the words of the format. */
function lengthened(value: JsonValue | undefined, name = '', depth = 0): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((entry) => lengthened(entry, name, depth + 1) ?? null);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([inner, of]) => [inner, lengthened(of, inner, depth + 1)]));
  const isText = ['text', 'content', 'output', 'arguments', 'description', 'thinking', 'data', 'signature'].includes(
    name,
  );
  return isText && depth > 2 && typeof value === 'string' ? `${value}${long}` : value;
}

function requestOf(format: TextFormat, body: JsonObject, isOutlined: boolean, isStream: boolean): ClientRequest {
  const text = JSON.stringify(body);
  const outline = createOutline([Buffer.from(text)]);
  if (outline === undefined) throw new Error('the body has no outline');
  const content = isOutlined
    ? RequestContent.fromOutline({
        ...outline,
        pieces: [Buffer.from(text)],
        body: JSON.parse(outline.text) as JsonObject,
      })
    : RequestContent.fromText(text, body);
  return new ClientRequest({ format: conversational[format], purpose: 'answer', model: 'test', isStream }, content);
}

function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
}

function textOf(body: UpstreamRequest['body']): string {
  return typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : Buffer.concat(body).toString();
}

function adapted(request: ClientRequest, route: Route) {
  return outcome(() => {
    const { body, ...others } = adaptRequest(request, route);
    return { body: textOf(body), ...others };
  });
}

/** Reasoning of the route's upstream, and of another one. */
function withState(format: TextFormat, origin: string): JsonObject {
  const data = `${'A'.repeat(200)}=`;
  if (format === 'messages') {
    const signature = tagState({ kind: 'signature', origin, data });
    const thinking = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: long, signature },
        { type: 'text', text: 'So.' },
      ],
    };
    return { messages: [{ role: 'user', content: long }, thinking, { role: 'user', content: 'And?' }] };
  }
  if (format === 'responses') {
    const encrypted_content = tagState({ kind: 'encrypted', origin, data });
    return {
      input: [
        { role: 'user', content: long },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content },
        { role: 'user', content: 'And?' },
      ],
    };
  }
  const thoughtSignature = encodeSignature(tagState({ kind: 'thought', origin, data }));
  const parts = [{ text: long, thoughtSignature }];
  if (format === 'gemini')
    return {
      contents: [
        { role: 'user', parts: [{ text: long }] },
        { role: 'model', parts },
      ],
    };
  return {
    messages: [
      { role: 'user', content: long },
      { role: 'assistant', content: 'So.', reasoning_content: long },
    ],
  };
}

const asked = (format: TextFormat, body: JsonObject): JsonObject =>
  format === 'gemini' ? body : { ...body, model: 'test', ...(format === 'messages' && { max_tokens: 9 }) };

describe.each(textFormats)('a long %s request, of which the outline was read', (format) => {
  const upstream = upstreamAt('http://127.0.0.1:1/v1', { formats: [format] });
  const bodies: JsonObject[] = [
    lengthened(sampleRequest(format)) as JsonObject,
    withState(format, deriveOrigin(upstream)),
    withState(format, '00000000'),
  ];

  it.each(settings)('is what all of it becomes for %s', (_name, profile) => {
    const route = routeTo(upstream, { profile: mergeProfiles(...profile) });
    for (const body of bodies)
      for (const isStream of [true, false]) {
        const [outlined, whole] = [true, false].map((isOutlined) =>
          requestOf(format, asked(format, body), isOutlined, isStream),
        ) as [ClientRequest, ClientRequest];
        expect(adapted(outlined, route)).toEqual(adapted(whole, route));
      }
  });

  it('is checked as all of it', () => {
    const { parameters } = conversational[format].client;
    for (const body of bodies)
      for (const wrong of [
        {},
        { messages: [{ content: long }] },
        { contents: long },
        { tools: [long] },
        { stop: [1] },
      ]) {
        const request = requestOf(format, asked(format, { ...body, ...wrong }), true, false);
        const check = (read: JsonObject) => outcome(() => checkParameters(read, parameters, []));
        expect(check(request.outline)).toEqual(check(request.body));
      }
  });

  it('is passed on without its texts to a route of the plain format', () => {
    const plain = routeTo(upstream, { profile: mergeProfiles({ quirks: { late_system: true, strict_tools: true } }) });
    const texts = [{ role: 'user', content: [{ type: 'text', text: long }] }];
    const body = {
      chat: { messages: texts },
      messages: { messages: texts },
      responses: { input: texts },
      gemini: { contents: [{ parts: [{ text: long }] }] },
    };
    expect(isPassedThrough(requestOf(format, asked(format, body[format]), true, false), plain)).toBe(true);
  });
});

const messages = [{ role: 'user', content: long.repeat(10) }];

it.each<[string, JsonObject]>([
  ['in front of long texts', { model: 'tést', messages, n: 1 }],
  ['behind long texts', { messages, tools: [], model: 'tést', n: 1 }],
  ['between long texts', { messages, model: 'tést', tools: messages }],
])('an outlined request has the name of the model changed %s, wherever the body is cut', (_where, body) => {
  const text = JSON.stringify(body);
  const bytes = Buffer.from(text);
  const at = bytes.indexOf('tést');
  for (const cut of [0, 1, at - 2, at, at + 2, at + 7, bytes.length - 1]) {
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0);
    const outline = createOutline(pieces);
    if (outline === undefined) throw new Error('the body has no outline');
    const content = RequestContent.fromOutline({ ...outline, pieces, body: JSON.parse(outline.text) as JsonObject });
    expect(textOf(rewriteModel(content, 'tést', 'model-there'))).toBe(text.replace('tést', 'model-there'));
  }
});
