/** What plugin authors import as `daypass`. */
export type { Adapter, ReplyReader, UpstreamRequest, WholeReply } from './model-call/adapter.ts';
export type { AuthScheme, Catalog, Model, Route, Upstream, Vendor } from './catalog/catalog.ts';
export { type Command, type CommandContext, CommandFailed } from './extension/command.ts';
export {
  defineSection,
  type Report,
  type Section,
  type SectionValue,
  type SectionValues,
  type YamlPath,
} from './config/section.ts';
export { ClientGone, type ErrorCode, type ErrorDetails, GatewayError } from './errors/table.ts';
export * from './facts.ts';
export type { Dialect, Format } from './catalog/formats.ts';
export type { Gauge, Reading } from './extension/gauge.ts';
export type { Host, Service, Services } from './host.ts';
export type { JobDefinition } from './jobs/definition.ts';
export { JobImpossible, type Jobs } from './jobs/jobs.ts';
export type { JsonObject, JsonValue } from './json.ts';
export type { FormattedTime, Formatter } from './pages/formatter.ts';
export {
  type AssetSource,
  defineForm,
  FieldErrors,
  type FormState,
  type Page,
  type PageForm,
  type PageRequest,
  Redirect,
  type Role,
  type SignedInAccount,
} from './pages/page.ts';
export { defineTexts, type Language, type Text, type Texts, type Translate } from './pages/texts.ts';
export type { Endpoint } from './pipeline/exchange.ts';
export type { Exchange } from './pipeline/exchange.ts';
export { type AnyFact, defineFact, type Fact } from './pipeline/fact.ts';
export type { Reply } from './pipeline/reply.ts';
export {
  type Answer,
  defineStage,
  type Observer,
  type Outcome,
  type Stage,
  type StageDefinition,
} from './pipeline/stage.ts';
export type { GatewayPlugin } from './extension/plugin.ts';
export type { Registry } from './extension/registry.ts';
export type { Infer, JsonSchema } from './schema.ts';
export { type Shared, SharedUnavailable } from './shared/shared.ts';
