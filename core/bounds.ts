const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * The most that may pile up in each place where bytes or entries do; bytes where nothing else is said. What is beyond is
 * refused, dropped and counted, or makes its sender wait: which of these is said with each. Options of gateway.yaml
 * that set a bound have their defaults here.
 */
export const bounds = {
  // What clients send.
  /** Head of a request; 431 beyond. */
  requestHead: 16 * KiB,
  /** Body of a request after decompression, as `max_body_bytes`; 413 beyond. */
  requestBody: 32 * MiB,
  /** Rest of a refused body that is read and thrown away; the connection is closed beyond. */
  discardedBody: 4 * MiB,

  /** Form of a page; 413 beyond. */
  formBody: 64 * KiB,
  /** Characters of a browser's name that a session keeps; cut. */
  userAgent: 400,

  // What upstreams send.
  /** Head of an answer: some vendors send large cookies. The route fails beyond. */
  upstreamHead: 64 * KiB,
  /** Whole answer, which is held until its end; pictures come as base64. The route fails beyond. */
  wholeReply: 64 * MiB,
  /** One event of a stream, and so each line of it; the largest pictures that vendors stream are a third. As above. */
  event: 32 * MiB,
  /** Events held until the first content; Responses repeats the instructions in each of the first. As above. */
  gatedEvents: 8 * MiB,
  /** All that has come before the first content, pings and unfinished events included. As above. */
  gatedBytes: 40 * MiB,
  /** Characters of a translated answer, which is known as a whole at its end. It is broken off beyond. */
  translatedReply: 64 * MiB,
  /** Characters of the events of items that are not finished; a broken answer is told without them beyond. */
  unfinishedItems: MiB,
  /** Body of a refusal; the rest is not read. */
  refusal: 64 * KiB,

  // What waits for clients. A slow one costs this in each of at most four places, and what its socket holds.
  /** Waits in one stream; its source is paused beyond. */
  slowReader: 256 * KiB,

  // What is kept for later.
  /** Answer in the cache, as `max_bytes`; larger ones are not kept. */
  cachedReply: 16 * MiB,
  /** All entries in memory where there is no Redis; the oldest go. */
  memoryCache: 256 * MiB,
  /** Stored response, as `max_bytes`; larger ones are not kept. Also what references may bring into one request. */
  storedResponse: 32 * MiB,
  /** Characters of an answer that another route is asked to go on with; a longer one ends where it broke off. */
  resumedText: MiB,
  /** Content of one exchange in the log, as `max_content_bytes`; cut. */
  loggedContent: 128 * KiB,
  /** Lines that wait to be written to the journal, bodies in base64 among them; dropped and counted beyond. */
  journalLines: 256 * KiB,
  /** One file of the journal of records, before the next is begun. The whole has `max_journal_bytes`. */
  journalSegment: 4 * MiB,
  /** Characters of a damaged line in the journal; skipped beyond. */
  journalLine: MiB,
  /** Records that the database refuses, kept in a folder; dropped and counted beyond. */
  rejectedRecords: 16 * MiB,

  // Entries.
  /** Accounts, and keys, that are remembered; the oldest go. */
  knownKeys: 50_000,
  /** Keys that are remembered as unknown; the oldest go. */
  unknownKeys: 20_000,
  /** Look-ups of keys that wait for the database; refused beyond. */
  waitingLookups: 2_000,
  /** Slots to be given back once Redis is there again; the others expire. */
  owedSlots: 10_000,
  /** Conversations that a breaker remembers as failing; the oldest go. */
  failingConversations: 1_000,

  /** Tokens of one answer; an upstream that says more is not believed. The largest integer of a column. */
  tokens: 2_147_483_647,
} as const;
