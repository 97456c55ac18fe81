import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testCertificate, testKey } from '../support/tls-upstream.ts';

export const examples = join(import.meta.dirname, '..', '..', 'deploy', 'proxies');

/** Where a proxy listens, and the instances behind it: one or two. */
export interface ProxyPorts {
  readonly port: number;
  readonly instances: readonly number[];
}

/** An example from deploy/proxies with the ports of a test, and its certificate in this folder. */
export async function example(name: string, { instances: [one, two] }: ProxyPorts, folder: string): Promise<string> {
  const text = (await readFile(join(examples, name), 'utf8')).replaceAll('/etc/ssl/daypass', folder);
  const first = place(text, '10.0.0.11', one);
  if (two !== undefined) return place(first, '10.0.0.12', two);
  // As the documentation says: without the second address.
  return first
    .replace(/(127\.0\.0\.1:\d+) 10\.0\.0\.12:8080/, '$1')
    .split('\n')
    .filter((line) => !line.includes('10.0.0.12'))
    .join('\n');
}

export async function writeCertificate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'fullchain.pem'), testCertificate);
  await writeFile(join(folder, 'privkey.pem'), testKey);
  await writeFile(join(folder, 'daypass.pem'), testCertificate + testKey);
}

/** Replaces an instance of an example, in the form of most files and in that of Envoy. */
function place(text: string, address: string, port: number | undefined): string {
  return text
    .replace(`${address}:8080`, `127.0.0.1:${port}`)
    .replace(`${address}, port_value: 8080`, `127.0.0.1, port_value: ${port}`);
}
