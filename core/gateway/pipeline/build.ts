import type { Host } from '../host/host.ts';
import { isSent, telemetrySection } from '#core/config/sections/telemetry-section.ts';
import { type NamedStage, Pipeline } from './pipeline.ts';
import { timed } from './stage-times.ts';
import type { AnyStageDefinition, Observer, Stage } from './stage.ts';
import { DeadlineExceeded, withDeadline } from '#core/platform/timing/deadline.ts';
import { nextTurn } from '#core/platform/timing/turn.ts';

export interface ConfiguredStage {
  readonly definition: AnyStageDefinition;
  readonly options: unknown;
}

const createTimeoutMs = 30_000;

/**
 * Creates the stages of a configuration in order. If one fails, those before it are released.
 *
 * @throws Error naming the stage
 */
export async function buildPipeline(
  stages: readonly ConfiguredStage[],
  host: Host,
  observers: Iterable<Observer> = [],
  stageTimeout?: number,
): Promise<Pipeline> {
  const created: NamedStage[] = [];
  for (const { definition, options } of stages) {
    // A stage may prepare data for thousands of models.
    await nextTurn();
    try {
      created.push({ name: definition.name, stage: await create(definition, options, host) });
    } catch (error) {
      await new Pipeline(created, host.log).retire();
      throw new Error(`stage "${definition.name}" could not be created`, { cause: error });
    }
  }
  const wanted = [...observers].filter((observer) => observer.isWanted?.(host) ?? true);
  const telemetry = host.section(telemetrySection);
  const isTimed = telemetry.stages && isSent(telemetry, 'traces');
  return new Pipeline(isTimed ? created.map(timed) : created, host.log, wanted, stageTimeout);
}

async function create(definition: AnyStageDefinition, options: unknown, host: Host): Promise<Stage> {
  const creating = Promise.resolve(definition.create(options, host));
  try {
    return await withDeadline(
      creating,
      createTimeoutMs,
      `\`create\` has not finished after ${createTimeoutMs / 1000} s`,
    );
  } catch (error) {
    if (error instanceof DeadlineExceeded) {
      const release = (stage: Stage) => new Pipeline([{ name: definition.name, stage }], host.log).retire();
      creating.then(release).catch(() => undefined);
    }
    throw error;
  }
}
