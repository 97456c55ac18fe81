import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '#core/logger.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

const lines: string[] = [];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    yaml: yamlFor('http://127.0.0.1:9/v1'),
    log: createLogger((line) => lines.push(line)),
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  lines.length = 0;
});

async function reload(listen: string): Promise<void> {
  await writeFile(gateway.file, `listen: { port: 0, ${listen} }\n${yamlFor('http://127.0.0.1:9/v1')}`);
  expect(await gateway.gateway.reload()).toBe(true);
}

describe('a reload of the section listen', () => {
  it('changes how long an idle connection stays open', async () => {
    await reload('keep_alive_timeout: 33');
    const { headers } = await fetch(`${gateway.url}/livez`);
    expect(headers.get('keep-alive')).toBe('timeout=33');
  });

  it('changes how large a body may be, and does not say otherwise', async () => {
    await reload('max_body_bytes: 2048');
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: ' '.repeat(3_000),
    });
    expect(response.status).toBe(413);
    expect(lines.join('')).not.toContain('next start');
  });

  it('leaves the address as it is, and says so', async () => {
    await reload('host: 127.0.0.2');
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
    expect(lines.join('')).toContain('listen has changed in');
  });

  it('of a file that says what runs does nothing', async () => {
    expect(await gateway.gateway.reload()).toBe(false);
  });
});
