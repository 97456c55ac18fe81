import { randomBytes } from 'node:crypto';
import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { SandboxSecret } from './entities.ts';

interface Held {
  secret: string | undefined;
}

/** The secret that signs notifications, the same for all instances; undefined until it has been loaded. */
export function sandboxSecret({ keep }: Pick<Host, 'keep'>): Held {
  return keep<Held>('payments-sandbox-secret', () => ({ secret: undefined }));
}

/** Loads it; creates it first when it does not exist. */
export async function loadSecret(host: Pick<Host, 'keep' | 'database'>): Promise<string> {
  const held = sandboxSecret(host);
  if (held.secret !== undefined) return held.secret;
  const { database } = host;
  await database.query('insert into payments_sandbox_secret (secret) values (?) on conflict do nothing', [
    randomBytes(32).toString('base64url'),
  ]);
  const [row] = await database.query<Row<typeof SandboxSecret, 'secret'>>('select secret from payments_sandbox_secret');
  if (row === undefined) throw new Error('the sandbox has no secret');
  return (held.secret = row.secret);
}
