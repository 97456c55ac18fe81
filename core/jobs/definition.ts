import type { Host } from '../host.ts';
import type { Job } from './job.ts';
import type { JsonObject } from '../json.ts';

/** A job as plugins and core define it: it runs with the host. */
export type JobDefinition<Data extends JsonObject = JsonObject> = Job<Host, Data>;
