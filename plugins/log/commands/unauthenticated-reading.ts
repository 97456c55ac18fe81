import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readUnauthenticated, unauthenticatedToJson } from '#core/gateway/records/unauthenticated.ts';

const periodMs = 86_400_000;
const maxBlocks = 100;

export async function readUnauthenticatedJson({ database }: Pick<Host, 'database'>, since: number) {
  return unauthenticatedToJson(await readUnauthenticated(database, since, maxBlocks));
}

export const unauthenticatedReading: OperatorReading = {
  path: '/unauthenticated',
  summary: 'list the address blocks that sent requests without an account in the last 24 hours',
  async read(host) {
    const { requests, blocks } = await readUnauthenticatedJson(host, host.now() - periodMs);
    // `block` is a deprecated alias of `address_block`, removed in 0.7.
    return { requests, blocks: blocks.map((block) => ({ block: block.addressBlock, ...block })) };
  },
};
