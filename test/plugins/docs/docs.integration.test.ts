import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorKinds } from '#core/platform/errors/table.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

const yaml = (rateLimit: string, more = '') => `
pipeline: [auth, plan, ${rateLimit} cache: { max_age: 600 }, format, upstream: {${more}}, log]
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
`;
const limited = `rate-limit: { limit: 7700, period: 60, burst: 500, concurrent: 30 },`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yaml(limited) });
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** An OpenAPI document, as far as these tests read it. */
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}
interface Operation {
  readonly parameters: readonly { readonly name: string; readonly example?: string }[];
  readonly requestBody?: { content: { 'application/json': { schema: object; example?: object } } };
  readonly responses: Record<string, { readonly headers: Record<string, object> }>;
}

const read = async (path: string) => (await fetch(gateway.url + path)).text();
const readSummary = async () => /^# .+\n\n> (One API key .+)\n/.exec(await read('/llms.txt'))?.[1];
const readDocument = async () => JSON.parse(await read('/openapi.json')) as Document;
const inBrowser = async (headers: Record<string, string> = {}) =>
  (await new PageClient(gateway.url).get('/docs', headers)).text;
const errorOf = async (response: Response) => ({ status: response.status, body: (await response.json()) as object });
const chatBody = (more: object) => ({ model: 'dp/demo', messages: [{ role: 'user', content: 'Hi' }], ...more });

describe('OpenAPI document', () => {
  it('the OpenAPI document satisfies the specification', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(await read('/openapi.json')));
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it('the OpenAPI document accepts the bodies that the gateway accepts, and no others', async () => {
    const { schema } = (await readDocument()).paths['/v1/chat/completions']!['post']!.requestBody!.content[
      'application/json'
    ];
    const accepts = new Ajv2020({ strict: false }).compile(schema);
    const bodies = [
      chatBody({}),
      chatBody({ unknown: 1 }),
      chatBody({ n: 129 }),
      chatBody({ messages: [] }),
      chatBody({ stop: 5 }),
    ];
    const headers = { authorization: `Bearer ${gateway.key}` };
    const url = `${gateway.url}/v1/chat/completions`;
    const statuses = bodies.map(async (one) => {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(one) });
      await response.text();
      return response.status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200, 400, 400, 400]);
    expect(bodies.map((one) => accepts(one))).toEqual([true, true, false, false, false]);
  });

  it('the gateway answers every example request of the OpenAPI document', async () => {
    const { paths } = await readDocument();
    const calls = Object.entries(paths).flatMap(([path, { post }]) => {
      const example = post?.requestBody?.content['application/json']?.example;
      return example === undefined ? [] : [{ path: path.replace('{id}', 'dp/demo'), example }];
    });
    expect(calls.length).toBeGreaterThan(5);
    const statuses = calls.map(async ({ path, example }) => {
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
      const response = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(example) });
      await response.text();
      return [path, response.status];
    });
    expect(await Promise.all(statuses)).toEqual(calls.map(({ path }) => [path, 200]));
  });

  it('the OpenAPI document describes the error body of each dialect', async () => {
    const { components } = await readDocument();
    const refused = {
      openai_error: await errorOf(await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST' })),
      anthropic_error: await errorOf(await fetch(`${gateway.url}/v1/messages`, { method: 'POST' })),
      google_error: await errorOf(await fetch(`${gateway.url}/v1beta/models`)),
    };
    const ajv = new Ajv2020({ strict: false });
    for (const [name, { status, body }] of Object.entries(refused)) {
      expect([name, status, ajv.validate(components.schemas[name]!, body)]).toEqual([name, 401, true]);
    }
  });

  it('the OpenAPI document lists the request and response headers of model calls', async () => {
    const { post } = (await readDocument()).paths['/v1/messages']!;
    expect(post!.parameters.map(({ name }) => name)).toEqual(['X-Service-Cache']);
    expect(Object.keys(post!.responses['200']!.headers)).toEqual(
      expect.arrayContaining([
        'x-service-cache',
        'anthropic-ratelimit-requests-limit',
        'x-daypass-notes',
        'x-request-id',
      ]),
    );
    expect(Object.keys(post!.responses['200']!.headers)).not.toContain('x-ratelimit-limit-requests');
  });
});

describe('documentation', () => {
  it('the documentation follows a reload of gateway.yaml', async () => {
    expect(await read('/llms.txt')).toContain('Model calls: 7,700 per 60 s, with bursts of up to 500');
    expect(await inBrowser()).not.toContain('x-daypass-route');
    await gateway.write(yaml('', 'route_headers: numbers'));
    await gateway.gateway.reload();
    const [text, page] = await Promise.all([read('/llms.txt'), inBrowser()]);
    expect([text.includes('Model calls:'), page.includes('x-daypass-route')]).toEqual([false, true]);
    await gateway.write(yaml(limited));
    await gateway.gateway.reload();
  });

  it('the documentation lists every endpoint and every error code, in both languages', async () => {
    const paths = Object.keys((await readDocument()).paths);
    for (const language of ['en', 'id']) {
      const html = await inBrowser({ 'accept-language': language });
      const text = html.replaceAll('<wbr>', '');
      expect(paths.filter((path) => !text.includes(` ${path}<`))).toEqual([]);
      expect(html).not.toMatch(/docs\.error\.|format\.docs|>docs\./);
      expect(html.split('<tr><td class="number" data-at="end">').length - 1).toBe(Object.keys(errorKinds).length);
      expect(Buffer.byteLength(html)).toBeLessThan(50_000);
    }
  });

  it('/docs shows the sample that the query names, and the first one for an unknown name', async () => {
    const client = new PageClient(gateway.url);
    expect((await client.get('/docs?sample=curl')).text).toContain('<code id="sample">curl ');
    expect((await client.get('/docs?sample=<script>')).text).toContain(
      '<code id="sample"><span class="comment"># Python: pip install openai',
    );
  });

  it('/docs and /llms.txt show the command that sets up tools', async () => {
    const command = /curl -fsSL \S+\/setup\.sh \| sh/;
    expect(await inBrowser()).toMatch(command);
    expect(await read('/llms.txt')).toMatch(command);
  });

  it('/llms.txt says first what a key is for, and where plans are sold how access is paid for', async () => {
    const key = 'One API key for every model, in the formats of OpenAI, Anthropic and Google.';
    expect(await readSummary()).toBe(`${key} Access is paid for by the day.`);
    await gateway.write(`${yaml(limited)}payments: { provider: none }\n`);
    await gateway.gateway.reload();
    expect(await readSummary()).toBe(key);
    await gateway.write(yaml(limited));
    await gateway.gateway.reload();
  });
});
