/// <reference types="node" preserve="true" />
/** The module `daypass/testing`, for plugin tests. It works with any test runner, such as `node --test` and Vitest. */
export { chatReply, chatStream } from './replies.ts';
export { type CheckoutRun, runCheckoutStep, type ShownPage, showPage, type TestReader } from './pages.ts';
export { given, type GivenFact, runStage, type StageRun, type StageRunOptions } from './run-stage.ts';
export { createTestHost, type TestHost, type TestHostOptions } from './test-host.ts';
