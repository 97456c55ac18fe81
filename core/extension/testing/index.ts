/// <reference types="node" preserve="true" />
/** What tests of plugins import as `daypass/testing`. Works under `node --test`, Vitest and others: it knows none of them. */
export { chatReply, chatStream } from './replies.ts';
export { given, type GivenFact, runStage, type StageRun, type StageRunOptions } from './run-stage.ts';
export { createTestHost, type TestHost, type TestHostOptions } from './test-host.ts';
