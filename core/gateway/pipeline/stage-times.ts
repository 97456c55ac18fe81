import type { Exchange } from './exchange.ts';
import { defineFact } from './fact.ts';
import type { NamedStage } from './pipeline.ts';
import type { Stage } from './stage.ts';

interface StageTime {
  readonly stage: string;
  readonly startedAt: number; // ms since the exchange's start
  readonly duration: number; // of `enter`, ms
}

/** Durations of the stages so far. Written only if spans of stages are enabled. */
export const stageTimes = defineFact<StageTime[]>('stage_times');

export function timeStage({ name, stage }: NamedStage): NamedStage {
  const { enter } = stage;
  if (enter === undefined) return { name, stage };
  const timedEnter: Stage['enter'] = (exchange) => {
    const startedAt = exchange.elapsed;
    const recordEnd = () => recordTime(exchange, { stage: name, startedAt, duration: exchange.elapsed - startedAt });
    let isPending = false;
    try {
      const result = enter.call(stage, exchange);
      if (!(result instanceof Promise)) return result;
      isPending = true;
      return result.finally(recordEnd);
    } finally {
      if (!isPending) recordEnd();
    }
  };
  return { name, stage: Object.create(stage, { enter: { value: timedEnter } }) as Stage };
}

function recordTime(exchange: Exchange, time: StageTime): void {
  const times = exchange.find(stageTimes);
  if (times === undefined) exchange.set(stageTimes, [time]);
  else times.push(time);
}
