import type { Host } from './host.ts';
import type { Job } from '#core/platform/jobs/job.ts';
import type { JsonObject } from '#core/platform/json.ts';

/** A job as plugins and core define it: it runs with the host. */
export type JobDefinition<Data extends JsonObject = JsonObject> = Job<Host, Data>;
