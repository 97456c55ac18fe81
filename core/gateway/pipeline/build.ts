import { sendsSignal, telemetrySection } from '#core/config/sections/telemetry-section.ts';
import { DeadlineExceeded, withDeadline } from '#core/platform/timing/deadline.ts';
import { nextTurn } from '#core/platform/timing/turn.ts';
import type { Host } from '../host/host.ts';
import { type NamedStage, Pipeline } from './pipeline.ts';
import { timeStage } from './stage-times.ts';
import type { AnyStageDefinition, Observer, Stage } from './stage.ts';

export interface ConfiguredStage {
  readonly definition: AnyStageDefinition;
  readonly options: unknown;
}

const createTimeoutMs = 30_000;

/** If a stage fails, releases the stages before it, and throws an Error that names the stage. */
export async function buildPipeline(
  stages: readonly ConfiguredStage[],
  host: Host,
  observers: Iterable<Observer> = [],
  stageTimeout?: number,
): Promise<Pipeline> {
  const namedStages: NamedStage[] = [];
  for (const { definition, options } of stages) {
    // Lets other work run first, because a stage may prepare data for thousands of models.
    await nextTurn();
    try {
      namedStages.push({ name: definition.name, stage: await createInTime(definition, options, host) });
    } catch (error) {
      await new Pipeline(namedStages, host.log).retire();
      throw new Error(`stage "${definition.name}" could not be created`, { cause: error });
    }
  }
  const wantedObservers = [...observers].filter((observer) => observer.isWanted?.(host) ?? true);
  const telemetry = host.section(telemetrySection);
  const isTimed = telemetry.stages && sendsSignal(telemetry, 'traces');
  return new Pipeline(isTimed ? namedStages.map(timeStage) : namedStages, host.log, wantedObservers, stageTimeout);
}

async function createInTime(definition: AnyStageDefinition, options: unknown, host: Host): Promise<Stage> {
  const stage = Promise.resolve(definition.create(options, host));
  const timeoutMessage = `\`create\` has not finished after ${createTimeoutMs / 1000} s`;
  try {
    return await withDeadline(stage, createTimeoutMs, timeoutMessage);
  } catch (error) {
    if (error instanceof DeadlineExceeded) {
      // The stage is released as soon as it exists.
      const release = (late: Stage) => new Pipeline([{ name: definition.name, stage: late }], host.log).retire();
      stage.then(release).catch(() => undefined);
    }
    throw error;
  }
}
