import { describe, expect, it } from 'vitest';
import { type CustomerChoice, customerChoices } from '#core/config/catalog/customer-choices.ts';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../plugins/format/canonical/notes.ts';
import { ToolNames } from '../../../../../plugins/format/canonical/tool-names.ts';
import { removeAccountChoices } from '../../../../../plugins/format/formats/adaptation/account-choices.ts';
import { chat } from '../../../../../plugins/format/formats/chat/descriptor.ts';
import { gemini } from '../../../../../plugins/format/formats/gemini/descriptor.ts';
import { messages } from '../../../../../plugins/format/formats/messages/descriptor.ts';
import { responses } from '../../../../../plugins/format/formats/responses/descriptor.ts';
import { ClientRequest } from '../../../../../plugins/format/request/client-request.ts';
import { RequestContent } from '../../../../../plugins/format/request/request-content.ts';
import { openCall } from '../../../../../plugins/format/routes/model-call.ts';
import { adaptRequest } from '../../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { encodeForRoute } from '../../../../../plugins/format/routes/translation/encode-for-route.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { refusalBy } from '../../codec-fixture.ts';
import { exchange, requestOf } from '../../invariants/fixture.ts';

const formats = { chat, gemini, messages, responses };
type Name = keyof typeof formats;

function filtered(body: JsonObject, allowed: readonly CustomerChoice[] = []) {
  const notes = new Notes();
  return { body: removeAccountChoices(body, { customerChoices: allowed }, notes), notes: notes.entries };
}

/** The body that a route of the client's own format gets. */
function passed(name: Name, body: JsonObject, allowed: readonly CustomerChoice[] = []) {
  const text = JSON.stringify({ model: 'test', ...body });
  const format = formats[name];
  const said = { format, purpose: 'answer', model: 'test', isStream: false } as const;
  const client = new ClientRequest(said, RequestContent.fromText(text, JSON.parse(text) as JsonObject));
  const upstream = upstreamAt('http://127.0.0.1:1', { formats: [name], customerChoices: allowed });
  const profile = mergeProfiles({ quirks: { betas: true, claude: true } });
  const { body: sent, notes = [] } = adaptRequest(client, { ...routeTo(upstream), profile });
  return { body: JSON.parse(String(sent)) as JsonObject, notes };
}

/** The body that a route of another format gets. */
function translated(from: Name, body: JsonObject, to: Name, allowed: readonly CustomerChoice[] = []) {
  const notes = new Notes();
  const conversation = formats[from].client.text.decodeRequest({ model: 'test', ...body }, notes);
  const target = formats[to];
  const names = new ToolNames(conversation, target.text.toolNames);
  const profile = mergeProfiles({ quirks: { betas: true, freeform_tools: true } });
  const wanted = { model: 'm', profile, isStream: false, names, notes };
  return {
    body: encodeForRoute(target, conversation, wanted, '0a1b2c3d', { customerChoices: allowed }),
    notes: notes.entries,
  };
}

const hi = [{ role: 'user', content: 'Hi' }];

describe('what a customer chooses in the account of the operator', () => {
  it.each<[string, JsonObject, CustomerChoice]>([
    ['billing_policy', { billing_policy: { type: 'prepaid' } }, 'billing_policy'],
    ['user_profile_id', { user_profile_id: 'up_1' }, 'user_profile_id'],
    ['workspace_id', { workspace_id: 'ws_1' }, 'workspace_id'],
    ['speed', { speed: 'fast' }, 'speed'],
    ['service_tier', { service_tier: 'priority' }, 'service_tier'],
    ['service_tier', { service_tier: 'ultrafast' }, 'service_tier'],
    ['service_tier', { service_tier: 'SERVICE_TIER_PRIORITY' }, 'service_tier'],
    ['serviceTier', { serviceTier: 'priority' }, 'service_tier'],
  ])('%s of %j goes only where the upstream allows it', (name, choice, allowed) => {
    const body = { model: 'm', ...choice };
    expect(filtered(body)).toEqual({ body: { model: 'm' }, notes: [`dropped ${name}`] });
    expect(filtered(body, [allowed]).body).toBe(body);
    expect(
      filtered(
        body,
        customerChoices.filter((one) => one !== allowed),
      ).body,
    ).toEqual({ model: 'm' });
  });

  it.each<JsonObject>([
    { service_tier: 'auto' },
    { service_tier: 'default' },
    { service_tier: 'flex' },
    { service_tier: 'standard_only' },
    { service_tier: 'on_demand' },
    { serviceTier: 'SERVICE_TIER_FLEX' },
    { service_tier: null, inference_geo: null },
    { speed: 'standard' },
    { speed: 1.5 },
    { messages: [{ role: 'user', content: 'speed: fast' }] },
  ])('%j costs no more, and passes', (body) => {
    expect(filtered(body)).toEqual({ body, notes: [] });
    expect(filtered(body).body).toBe(body);
  });

  it('the speed of a fallback is a choice, too', () => {
    const fallbacks = [{ model: 'a', speed: 'fast' }, { model: 'b' }];
    expect(filtered({ fallbacks })).toEqual({
      body: { fallbacks: [{ model: 'a' }, { model: 'b' }] },
      notes: ['dropped speed'],
    });
  });

  it('a place of inference is refused, never dropped, unless the upstream allows it', () => {
    const error = refusalBy(() => filtered({ inference_geo: 'us' }));
    expect(error).toMatchObject({ code: 'unsupported_content', details: { param: 'inference_geo' } });
    expect(filtered({ inference_geo: 'us' }, ['inference_geo']).body).toEqual({ inference_geo: 'us' });
  });

  it('a request of the route’s own format loses the choice and keeps everything else', () => {
    const body = { max_tokens: 9, messages: hi, speed: 'fast', billing_policy: { type: 'x' } };
    expect(passed('messages', body)).toEqual({
      body: { model: 'model-there', max_tokens: 9, messages: hi },
      notes: ['dropped speed', 'dropped billing_policy'],
    });
    expect(passed('messages', body, ['speed', 'billing_policy']).body).toEqual({ model: 'model-there', ...body });
    expect(passed('chat', { messages: hi, service_tier: 'priority' }).notes).toEqual(['dropped service_tier']);
    expect(refusalBy(() => passed('messages', { ...body, inference_geo: 'us' })).code).toBe('unsupported_content');
  });

  it('a translated request loses what the upstream would read as a choice', () => {
    const asked = { messages: hi, service_tier: 'priority' };
    expect(translated('chat', asked, 'responses')).toMatchObject({ notes: ['dropped service_tier'] });
    expect(translated('chat', asked, 'responses').body).not.toHaveProperty('service_tier');
    expect(translated('chat', asked, 'responses', ['service_tier']).body).toHaveProperty('service_tier', 'priority');
    const google = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], serviceTier: 'SERVICE_TIER_PRIORITY' };
    expect(translated('gemini', google, 'chat').notes).toEqual(['dropped service_tier']);
    expect(translated('chat', { ...asked, service_tier: 'flex' }, 'responses').body).toHaveProperty(
      'service_tier',
      'flex',
    );
  });

  it.each<[Name, Name, JsonObject]>([
    ['messages', 'chat', { max_tokens: 9, messages: hi }],
    ['chat', 'messages', { messages: hi }],
    ['responses', 'messages', { input: 'Hi' }],
    ['gemini', 'messages', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  ])('no translation drops a place of inference: from %s to %s', (client, upstream, asked) => {
    const route = routeTo(upstreamAt('http://127.0.0.1:1', { formats: [upstream] }));
    const encode = (inference_geo: string | null) => {
      const request = requestOf(client, { model: 'test', ...asked, inference_geo });
      return openCall(exchange, modelOf('test', [], { routes: [route] }), request).encode(route);
    };
    expect(refusalBy(() => encode('eu'))).toMatchObject({
      code: 'unsupported_content',
      details: { param: 'inference_geo' },
    });
    for (const nothing of [null, '']) expect(encode(nothing).body).toBeDefined();
  });
});
