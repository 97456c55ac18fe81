import { randomUUID } from 'node:crypto';
import { runCommand } from './command-line.ts';
import type { TestGateway } from './gateway.ts';

/** The token's name begins with its scope. */
export async function createOperatorToken(
  { file, database }: Pick<TestGateway, 'file' | 'database'>,
  scope: 'read' | 'act',
): Promise<string> {
  const name = `${scope} ${randomUUID()}`;
  const words = ['--config', file, 'operator-token', 'create', name, '--scope', scope, '--days', '1'];
  const { code, out, errors } = await runCommand(words, { DATABASE_URL: database.url });
  if (code !== 0) throw new Error(`no token: ${errors}`);
  return out.trim();
}
