import { dirname, resolve } from 'node:path';
import type { GatewayDocument } from '#core/config/file/document.ts';
import { Validator } from '#core/config/file/validator.ts';
import type { Section, SectionValue } from '#core/config/section.ts';
import { data, listen, memory } from '#core/config/sections/core-sections.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { computeWorkerCount, workersSection } from '#core/config/sections/workers-section.ts';
import type { ListenAddress } from '#core/gateway/http/accept.ts';
import { type OperatorAddress, resolveOperatorAddress } from '#core/gateway/operator-listener/address.ts';

/** What the supervisor needs from gateway.yaml. */
export interface WorkerPlan {
  readonly count: number;
  readonly address: ListenAddress;
  readonly operator: OperatorAddress | undefined; // undefined if the listener is off
  readonly dataFolder: string;
}

/** Undefined if a single process suffices; that process also reports an invalid file. */
export function planWorkers(document: GatewayDocument): WorkerPlan | undefined {
  const plan = readWorkerPlan(document);
  return plan === undefined || plan.count === 1 || !document.hasRedis ? undefined : plan;
}

/** Undefined if the file is invalid. */
export function readWorkerPlan(document: GatewayDocument): WorkerPlan | undefined {
  const validator = new Validator(document);
  const values = document.values();
  const read = <S extends Section>({ name, schema }: S) =>
    validator.validate(values[name] ?? structuredClone(schema.default), schema, [name]) as SectionValue<S>;
  const workers = read(workersSection);
  const dataValue = read(data);
  const listenValue = read(listen);
  const memoryValue = read(memory);
  const operator = read(operatorSection);
  // Invalid sections have no value.
  if (validator.mistakes.length > 0) return undefined;
  const { host, port } = listenValue;
  const dataFolder = resolve(dirname(document.file), dataValue.folder);
  return {
    count: computeWorkerCount(workers, memoryValue.max_bytes),
    address: { host, port },
    operator: resolveOperatorAddress(operator, port, dataFolder),
    dataFolder,
  };
}
