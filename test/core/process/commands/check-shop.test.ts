import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../../../support/command-line.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-shop-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function notesOf(lines: string): Promise<string[]> {
  const file = join(folder, 'gateway.yaml');
  await writeFile(
    file,
    `service: { base_url: "https://ai.example.com", contact: "mailto:shop@ai.example.com" }
sign_in: { google: { client_id: a, client_secret: b } }
mail: { smtp: "smtps://a:b@smtp.example.com", from: shop@ai.example.com }
midtrans: { server_key: Mid-server-x, merchant_id: G123456789 }
pipeline: [auth, plan, format, upstream, log]
upstreams: { one: { format: chat, base_url: "http://10.0.0.1/v1", api_keys: [k] } }
models: { test: { routes: [one/a] } }
plans: [{ days: 1, price: 18000 }]
${lines}`,
  );
  const { code, out, errors } = await runCommand(['--config', file, 'check'], {});
  expect(errors).toBe('');
  expect(code).toBe(0);
  return out.match(/(?<=^note: ).*$/gm) ?? [];
}

it('a shop that takes money from strangers gets a note with a remedy for each setting that it lacks', async () => {
  expect(await notesOf('payments: { provider: midtrans }')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^seller\.name is not set.*: set seller:/),
      expect.stringMatching(/^no page is at \/terms.*`daypass init --pages`/),
      expect.stringMatching(/^no account can open the operator pages: set operators/),
      expect.stringMatching(/^nobody is alerted.*: set alerts:/),
      expect.stringMatching(/^orders and accounts are not backed up: set backup:/),
    ]),
  );
});

it('a shop that has all of it, and one that sells nothing, have no such notes', async () => {
  const ready = `payments: { provider: midtrans }
seller: { name: Rani, address: "Jl. Melati 1" }
operators: [rani@ai.example.com]
alerts: { mail: rani@ai.example.com }
backup: { every: elsewhere }`;
  expect((await notesOf(ready)).filter((note) => !note.startsWith('no page is at'))).toEqual([]);
  expect(await notesOf('payments: { provider: none }')).toEqual([]);
});
