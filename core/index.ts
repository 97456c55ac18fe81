/** The public API that plugins import as `daypass`. Everything else in core is private. */

// A plugin, and what it registers.
export type { GatewayPlugin } from './extension/plugin.ts';
export type { CatalogProblem, CatalogReview, ConfigReview, ConfiguredHook, Registry } from './extension/registry.ts';
export { type Command, type CommandContext, CommandFailed } from './extension/command.ts';
export type { Gauge, Reading } from './health/gauge.ts';
export type { HealthCheck, HealthVerdict } from './health/health-check.ts';
export type { StatusReport } from './health/status-report.ts';
export {
  type CheckContext,
  defineSection,
  type ProviderTerms,
  type Report,
  type Section,
  type SectionValue,
  type SectionValues,
  type YamlPath,
} from './config/section.ts';
export type { Infer, JsonSchema } from './schema.ts';

// Stages and endpoints.
export {
  type DeferredAnswer,
  defineStage,
  type Observer,
  type Outcome,
  type Stage,
  type StageDefinition,
} from './pipeline/stage.ts';
export type { BodySource, Endpoint, Exchange } from './pipeline/exchange.ts';
export type {
  DocumentedHeader,
  DocumentedLimit,
  EndpointDocumentation,
  StageDocumentation,
} from './pipeline/api-documentation.ts';
export { type AnyFact, defineFact, type Fact } from './pipeline/fact.ts';
export * from './facts.ts';
export { mapText } from './pipeline/map-text.ts';
export type { TextMap, TextMapper } from './pipeline/text-mapper.ts';
export type { ObjectEvent, ReplyText, TextBlocks } from './pipeline/reply-text.ts';
export { type BodyTransform, mapBody } from './pipeline/map-body.ts';
export type { Reply, Trailers } from './pipeline/reply.ts';
export {
  type Audience,
  ClientGone,
  type Dialect,
  type ErrorCode,
  type ErrorDetails,
  type ErrorMeaning,
  GatewayError,
} from './errors/table.ts';
export type { JsonObject, JsonValue } from './json.ts';

// Pages.
export { codePieces, type CodePiece } from './pages/code-pieces.ts';
export {
  axisBar,
  dayBars,
  type DayBars,
  type DayState,
  latencyBar,
  type LatencyBar,
  type PassTicks,
  planTicks,
  sparkPath,
  ticks,
} from './pages/geometry.ts';
export type { FormattedAmount, FormattedRemaining } from './pages/durations.ts';
export type { FormattedTime, Formatter } from './pages/formatter.ts';
export type { IconName } from './pages/icons.ts';
export type { Navigation } from './pages/navigation.ts';
export {
  accountOf,
  type AssetSource,
  defineForm,
  Download,
  FieldErrors,
  type FormState,
  type LiveParts,
  type LiveTopic,
  type Page,
  type PageForm,
  type PageRequest,
  Redirect,
  type Role,
  type SignedInAccount,
} from './pages/page.ts';
export { PageError, type PageErrorDetails } from './pages/page-error.ts';
export { publishLive } from './pages/live/live-bus.ts';
export type { IssuedSession, OpenSession, SessionRecord, Sessions } from './pages/sessions.ts';
export { type SessionWithRoles, sessionOf, sessionsOf, signIn, signInPath } from './pages/sign-in.ts';
export { ownPath } from './pages/own-path.ts';
export type { Preference } from './pages/cookies.ts';
export { defineTexts, type Language, type Text, type Texts, type Translate } from './pages/texts.ts';

// Records of requests.
export type { RequestRecord } from './records/columns.ts';
export { countRequests, type RequestCount } from './records/count-requests.ts';
export type { RequestFilter } from './records/filter.ts';
export { findRequest, listRequests, readRequests, type RequestPage } from './records/read-requests.ts';
export {
  countUsage,
  readUsage,
  startOfHour,
  startOfHours,
  type TimedUsage,
  type UsageBy,
  type UsageCounts,
  type UsageFilter,
  type UsageKeys,
  usageReach,
} from './records/usage.ts';
export { type LatencyHistogram, mergeHistograms, quantile } from './records/latency-histogram.ts';
export { readRouteUsage, type RouteFault, type RouteUsage } from './records/route-usage.ts';

// Tables, jobs and events.
export { defineEntity, type EntityManager, p } from '@mikro-orm/postgresql';
export { Migration } from '@mikro-orm/migrations';
export type { Database, Notifications } from './database/database.ts';
export type { Entities, PluginTables } from './database/tables.ts';
export type { JobDefinition } from './jobs/definition.ts';
export { UnrecoverableJobError, type Jobs } from './jobs/jobs.ts';
export type { EventTypes, OrderEvent, PlanEvent } from './accounts/events.ts';
export { type AccountEvent, readEvents, recordEvent } from './accounts/account-events.ts';
export type { EventName, EventPublisher } from './shared/event-handler.ts';

// What a plugin finds in its host.
export type { Host, Service, Services } from './host.ts';
export type { Logger } from './logger.ts';
export {
  type Cache,
  type CacheEntry,
  type Events,
  type Limiter,
  type Limits,
  type Shared,
  SharedUnavailable,
  type Take,
} from './shared/shared.ts';

// Models, vendors and upstreams.
export type { AuthScheme, Catalog, Model, Route, Upstream, Vendor } from './catalog/catalog.ts';
export type { WireFormat, WireFormats } from './catalog/formats.ts';
export type { Capabilities, CapabilitySettings } from './catalog/capabilities.ts';
export type { Profile, ProfileSettings } from './catalog/profile.ts';
export type { Quirks, QuirkSettings, ReasoningStyle } from './catalog/quirks.ts';
export type { Usage } from './model-call/usage.ts';
export type { Adapter, ReplyReader, RouteCalls, UpstreamRequest, WholeReply } from './model-call/adapter.ts';

// Payment providers.
export {
  type Charge,
  type ChargeReference,
  type ChargeRequest,
  type Money,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
  type PaymentNotification,
  type PaymentProvider,
  type PaymentState,
  type RawNotification,
  type Refund,
  type RefundRequest,
} from './payments/payment-provider.ts';
export { callProvider, failureOf, type ProviderAnswer, type ProviderCall } from './payments/call-provider.ts';
export { readRupiah } from './payments/amount.ts';
export { isSameSecret } from './payments/secrets.ts';
export { type Qris, QrisError, type QrisField, readQris, writeQris } from './payments/qris.ts';
