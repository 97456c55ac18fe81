import { openGatewayHome } from '../support/gateway-home.ts';
import { type Ask, casesOf } from './cases.ts';
import type { TriedServer } from './servers.ts';

/** @param report takes each case with what was wrong */
export async function tryThroughGateway(
  server: TriedServer,
  baseUrl: string,
  databaseUrl: string,
  report: (name: string, fault: string | undefined) => void,
): Promise<void> {
  await using home = await openGatewayHome(databaseUrl, yamlFor(server, baseUrl));
  await using gateway = await home.start();
  const ask: Ask = async (path, body) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${home.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(300_000),
    });
    return {
      status: response.status,
      text: await response.text(),
      notes: response.headers.get('x-daypass-notes') ?? '',
    };
  };
  for (const { name, run } of casesOf(server)) {
    const fault = await run(ask).catch((error: unknown) => (error instanceof Error ? error.message : 'unknown error'));
    report(name, fault);
  }
}

/** With time for a busy machine. Three attempts: a limit of output tokens that is lowered takes two. */
const pipeline = `
pipeline:
  - auth
  - plan
  - format
  - upstream: { first_byte_timeout: 240, idle_timeout: 240, deadline: 280 }
  - log
`;

function yamlFor({ vendor, models }: TriedServer, baseUrl: string): string {
  const lines = Object.entries(models).map(([kind, name]) => `  ${kind}: { kind: ${kind}, routes: ["one/${name}"] }`);
  // A gateway's start is known by its line about a model for conversations.
  const spare = '  spare: { routes: ["two/none"] }';
  return `${pipeline}
upstreams:
  one: { vendor: ${vendor}, base_url: "${baseUrl}" }
  two: { format: chat, base_url: "http://127.0.0.1:1/v1" }
models:
${[...lines, spare].join('\n')}
`;
}
