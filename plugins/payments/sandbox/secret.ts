import type { Host } from '#core/gateway/host/host.ts';
import { readSecret } from '#core/platform/database/secret.ts';

interface SecretHolder {
  secret: string | undefined;
}

/** All instances share this secret, which signs notifications. The secret is undefined until `loadSecret` has run. */
export function getSecretHolder({ keep }: Pick<Host, 'keep'>): SecretHolder {
  return keep<SecretHolder>('payments-sandbox-secret', () => ({ secret: undefined }));
}

export async function loadSecret(host: Pick<Host, 'keep' | 'database'>): Promise<string> {
  return (getSecretHolder(host).secret ??= await readSecret(host.database, 'payments-sandbox'));
}
