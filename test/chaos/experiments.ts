import { hedged, resumed } from './experiments/backups.ts';
import { brokenStart } from './experiments/broken-starts.ts';
import { clientLeft } from './experiments/client-left.ts';
import { clock } from './experiments/clock.ts';
import { dataFolder } from './experiments/data-folder.ts';
import { burst, deadRoute } from './experiments/dead-route.ts';
import { descriptors } from './experiments/descriptors.ts';
import { drain } from './experiments/drain.ts';
import { dripping, slowlorisBody } from './experiments/dripping.ts';
import { eventLoop } from './experiments/event-loop.ts';
import { cutStreams, failover } from './experiments/failover.ts';
import { fairShares } from './experiments/fair-shares.ts';
import { frozenDisk } from './experiments/frozen-disk.ts';
import { lostDuringStart } from './experiments/lost-during-start.ts';
import { memory } from './experiments/memory.ts';
import { names } from './experiments/names.ts';
import { pipelining } from './experiments/pipelining.ts';
import { records } from './experiments/records.ts';
import { redis } from './experiments/redis.ts';
import { reload } from './experiments/reload.ts';
import { resets } from './experiments/resets.ts';
import { silentConnections } from './experiments/silent-connections.ts';
import { stranger } from './experiments/stranger.ts';
import { tinyChunks } from './experiments/tiny-chunks.ts';
import { unwritableDatabase } from './experiments/unwritable-database.ts';
import { websockets } from './experiments/websockets.ts';
import type { Experiment } from './figure.ts';
import { table } from './table.ts';

/** In the order in which they run. Those that wait come first, the longest ones at their head. */
export const experiments: readonly Experiment[] = [
  clock,
  names,
  silentConnections,
  dripping,
  slowlorisBody,
  brokenStart,
  lostDuringStart,
  table,
  failover,
  cutStreams,
  hedged,
  resumed,
  records,
  dataFolder,
  frozenDisk,
  unwritableDatabase,
  clientLeft,
  resets,
  pipelining,
  descriptors,
  reload,
  drain,
  deadRoute,
  burst,
  eventLoop,
  redis,
  fairShares,
  tinyChunks,
  websockets,
  memory,
  stranger,
];
