import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CloudCredentials } from '#core/config/catalog/credentials.ts';
import { createTokenReader } from '../../../../plugins/upstream/credentials/read-token.ts';
import { runAsNode } from '../../../support/as-node.ts';
import { createUpstream, type FaultyUpstream } from '../../../support/faulty-upstream.ts';

const token = { access_token: 'token-1', token_type: 'Bearer', expires_in: 3600, issued_token_type: 'x' };

let folder: string;
let cloud: FaultyUpstream;
let isBrotli = false;
let old: Disposable;
beforeAll(async () => {
  old = runAsNode('26.10.0');
  folder = await mkdtemp(join(tmpdir(), 'daypass-token-'));
  cloud = await createUpstream((_request, response) => {
    const json = Buffer.from(JSON.stringify(token));
    if (!isBrotli) return response.send(200, { 'content-type': 'application/json' }, json);
    const headers = { 'content-type': 'application/json', 'content-encoding': 'br' };
    return response.send(200, headers, brotliCompressSync(json));
  });
  await writeFile(join(folder, 'token'), 'workload-token');
});
afterAll(async () => {
  await cloud[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
  old[Symbol.dispose]();
});
beforeEach(() => {
  isBrotli = false;
});

/** The key file of a workload that exchanges its token at the cloud. */
async function google(): Promise<CloudCredentials> {
  const file = join(folder, 'workload.json');
  const workload = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${cloud.url}/sts`,
    credential_source: { file: join(folder, 'token') },
  };
  await writeFile(file, JSON.stringify(workload));
  return { google: { key_file: file } };
}

async function entra(): Promise<CloudCredentials> {
  return { entra: { tenant_id: 't', client_id: 'app', client_secret: 'secret', authority: cloud.url } };
}

describe.each([
  ['Google', google],
  ['Entra', entra],
])('on a Node.js whose decoder of Brotli is not safe, a token of %s', (_cloud, credentials) => {
  it('is asked for without br, and read', async () => {
    const { value } = await createTokenReader(await credentials())();
    expect(value).toBe('token-1');
    expect(cloud.requests.at(-1)?.headers['accept-encoding'] ?? 'identity').toBe('identity');
  });

  it('is not decoded when it comes in br all the same', async () => {
    isBrotli = true;
    await expect(createTokenReader(await credentials())()).rejects.toThrow(Error);
  });
});
