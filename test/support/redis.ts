import { inject } from 'vitest';

/** Connection string of the tests' Redis; undefined where there is none. */
export const redisUrl = inject('redisUrl') ?? undefined;
