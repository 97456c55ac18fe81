import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUpstream, type FaultyUpstream } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';
import { refusalOfBedrockKey } from '../../support/sigv4.ts';

/*
 * Clouds that check signatures and tokens: one server is the token services of Entra and Google and the models of all three.
 */

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const tokens = { entra: 0, google: 0 };
/** The only token of Entra that Azure accepts. */
let acceptedToken = 'entra-1';

const aws = (key: string) => `{ aws: { region: eu-west-1, access_key_id: AKIDEXAMPLE, secret_access_key: "${key}" } }`;

let cloud: FaultyUpstream;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;

const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'there',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'there',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

beforeAll(async () => {
  cloud = await createUpstream((request, response) => {
    const { path, headers, body } = request;
    const bearer = headers.authorization?.replace('Bearer ', '') ?? '';
    const deny = (status: number, text: string) => response.json(status, { error: { message: text } });
    if (path === '/tenant-1/oauth2/v2.0/token') {
      const form = new URLSearchParams(body.toString());
      if (form.get('client_secret') !== 'right') return deny(401, 'AADSTS7000215: Invalid client secret provided.');
      return response.json(200, { token_type: 'Bearer', expires_in: 3_600, access_token: `entra-${++tokens.entra}` });
    }
    if (path === '/sts') {
      const form = new URLSearchParams(body.toString());
      if (form.get('subject_token') !== 'workload-token') return deny(400, 'invalid_grant');
      const access_token = `google-${++tokens.google}`;
      return response.json(200, { access_token, expires_in: 3_600, issued_token_type: 'x', token_type: 'Bearer' });
    }
    if (path.startsWith('/bedrock/')) {
      const refusal = refusalOfBedrockKey(bearer, secret, 'eu-west-1');
      if (refusal !== undefined) return deny(403, `The security token included in the request is invalid: ${refusal}`);
      return response.json(200, path.endsWith('/messages') ? message : chatAnswer);
    }
    if (path.startsWith('/azure/')) return bearer === acceptedToken ? response.json(200, chatAnswer) : deny(401, 'no');
    if (path.startsWith('/vertex/')) return bearer === 'google-1' ? response.json(200, message) : deny(401, 'no');
    return deny(404, 'not found');
  });
  const workload = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${cloud.url}/sts`,
    credential_source: { file: '' },
  };
  const entra = (key: string) =>
    `{ entra: { tenant_id: tenant-1, client_id: app, client_secret: ${key}, authority: "${cloud.url}" } }`;
  const yaml = (keyFile: string) => `${wholePipeline}
upstreams:
  bedrock: { vendor: bedrock, base_url: "${cloud.url}/bedrock/openai/v1", credentials: ${aws(secret)} }
  claude: { vendor: bedrock-anthropic, base_url: "${cloud.url}/bedrock/anthropic/v1", credentials: ${aws(secret)} }
  stale: { vendor: bedrock, base_url: "${cloud.url}/bedrock/openai/v1", credentials: ${aws('of last year')} }
  azure: { vendor: azure-openai, base_url: "${cloud.url}/azure/openai/v1", credentials: ${entra('right')} }
  closed: { vendor: azure-openai, base_url: "${cloud.url}/azure/openai/v1", credentials: ${entra('wrong')} }
  vertex: { vendor: vertex-anthropic, base_url: "${cloud.url}/vertex", credentials: { google: { key_file: "${keyFile}" } } }
models:
  open: { routes: [bedrock/openai.gpt-oss-120b] }
  claude: { routes: [claude/anthropic.claude-opus-4-8] }
  backed: { routes: [stale/openai.gpt-oss-120b, closed/gpt-4.1, azure/gpt-4.1] }
  stale: { routes: [stale/openai.gpt-oss-120b] }
  azure: { routes: [azure/gpt-4.1] }
  vertex: { routes: ["vertex/claude-sonnet-4-5@20250929"] }
`;
  gateway = await startGateway({ yaml: yaml('/nonexistent') });
  const [keyFile, tokenFile] = ['workload.json', 'token'].map((name) => join(gateway.folder, name)) as [string, string];
  await writeFile(tokenFile, 'workload-token');
  await writeFile(keyFile, JSON.stringify({ ...workload, credential_source: { file: tokenFile } }));
  await gateway.write(yaml(keyFile));
  expect(await gateway.gateway.reload()).toBe(true);
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

const ask = async (model: string) => {
  const { choices } = await openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] });
  return choices[0]?.message.content;
};
const askClaude = (model: string) =>
  anthropic.messages.create({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });

describe('a cloud that checks credentials', () => {
  it('Amazon Bedrock accepts its signature, for models of OpenAI and of Anthropic', async () => {
    expect(await ask('open')).toBe('hello');
    expect((await askClaude('claude')).content).toMatchObject([{ text: 'hello' }]);
    const keys = cloud.requests
      .filter(({ path }) => path.startsWith('/bedrock/'))
      .map((one) => one.headers.authorization);
    expect(new Set(keys).size).toBe(1);
  });

  it('Azure gets one token of Entra for many calls at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('azure')));
    expect([new Set(answers), tokens.entra]).toEqual([new Set(['hello']), 1]);
  });

  it('Vertex AI gets a token of the workload, the model in the path and the version in the body', async () => {
    expect((await askClaude('vertex')).model).toBe('dp/vertex');
    const request = cloud.requests.at(-1);
    expect(request?.path).toBe('/vertex/models/claude-sonnet-4-5@20250929:rawPredict');
    const body = request?.json<Record<string, unknown>>() ?? {};
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: 5 });
    expect(body).not.toHaveProperty('model');
    expect(await ask('vertex')).toBe('hello');
    expect(tokens.google).toBe(1);
  });

  it('a backup serves where a signature, or an application, is refused', async () => {
    expect(await ask('backed')).toBe('hello');
  });

  it('a token that has been revoked is replaced within the request', async () => {
    acceptedToken = 'entra-2';
    expect([await ask('azure'), tokens.entra]).toEqual(['hello', 2]);
  });

  it('a new token that is refused as well is the only one that the request gets', async () => {
    acceptedToken = 'none';
    const before = tokens.entra;
    await expect(ask('azure')).rejects.toThrow('424');
    expect(tokens.entra).toBe(before + 1);
  });

  it('without a backup, the client reads that its own key is valid, and no credential', async () => {
    const refused = await ask('stale').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.APIError);
    expect((refused as InstanceType<typeof OpenAI.APIError>).status).toBe(424);
    expect(String((refused as Error).message)).toContain('Your own key is valid');
    expect(String((refused as Error).message)).not.toMatch(/bedrock-api-key|AKID|127\.0\.0\.1/);
  });
});
