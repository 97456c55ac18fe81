import type { Host } from '../host.ts';
import { type NamedStage, Pipeline } from './pipeline.ts';
import type { AnyStageDefinition, Observer } from './stage.ts';

export interface ConfiguredStage {
  readonly definition: AnyStageDefinition;
  readonly options: unknown;
}

/**
 * Creates the stages of a configuration in order. If one cannot be created, those before it are released.
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
    try {
      created.push({ name: definition.name, stage: await definition.create(options, host) });
    } catch (error) {
      await new Pipeline(created, host.log).retire();
      throw new Error(`stage "${definition.name}" could not be created`, { cause: error });
    }
  }
  return new Pipeline(created, host.log, observers, stageTimeout);
}
