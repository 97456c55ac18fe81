import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway, wholePipeline } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

const names = Array.from({ length: 250 }, (_, index) => `model-${index}`);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams: { one: { format: chat, base_url: "http://127.0.0.1:9/v1" } }
models: { ${names.map((name) => `${name}: { routes: [one/there] }`).join(', ')} }
`,
  });
}, 60_000);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
});

interface StatusJson {
  readonly model_count: number;
  readonly next: string | null;
  readonly models: readonly { readonly id: string; readonly days: readonly unknown[] }[];
}

async function statusJson(path: string): Promise<StatusJson> {
  return (await (await fetch(gateway.url + path)).json()) as StatusJson;
}

describe('hundreds of models', () => {
  it('are in /status.json a hundred at a time, each once', async () => {
    const ids: string[] = [];
    for (let path: string | null = '/status.json'; path !== null;) {
      const { models, model_count, next } = await statusJson(path);
      expect(model_count).toBe(250);
      expect(models.length).toBeLessThanOrEqual(100);
      expect(models[0]?.days).toHaveLength(90);
      ids.push(...models.map(({ id }) => id));
      path = next;
    }
    expect(ids.toSorted()).toEqual(names.map((name) => `dp/${name}`).toSorted());
  });

  it.each(['', '?page=', '?page=0', '?page=-1', '?page=x', '?page=1&page=2', '?page=%00'])(
    'begin with the first one at /status.json%s',
    async (query) => {
      expect((await statusJson(`/status.json${query}`)).models[0]?.id).toBe('dp/model-0');
    },
  );

  it('end with the last page', async () => {
    expect((await statusJson('/status.json?page=999999')).models).toHaveLength(50);
    const { text } = await new PageClient(gateway.url).get('/status?page=3');
    expect(text).toContain('Models 201 to 250 of 250');
    expect(text).toContain('href="/status?page=2"');
    expect(text).not.toContain('href="/status?page=4"');
  });

  it('are on the status page a hundred at a time, and the page stays up to date', async () => {
    const { text } = await new PageClient(gateway.url).get('/status?page=2');
    expect(text.match(/<article class="card model-status">/g)).toHaveLength(100);
    expect(text).toContain('sse-connect="/status/live?page=2"');
  });

  it('are on the front page in part, with the way to all', async () => {
    const { text } = await new PageClient(gateway.url).get('/');
    expect(text).toContain('dp/model-99<');
    expect(text).not.toContain('dp/model-100<');
    expect(text).toContain('Status of all 250 models');
  });
});
