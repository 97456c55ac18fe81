/// <reference types="node" preserve="true" />
/** The public API, which plugins import as `daypass`. Everything else in core is private. */

// Plugins and what they register.
export type { GatewayPlugin } from '#core/extension/plugin.ts';
export type {
  CatalogProblem,
  CatalogReview,
  ConfigReview,
  ConfiguredHook,
  Registry,
} from '#core/extension/registry.ts';
export { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
export { type ActionCommandWords, addActionCommand } from '#core/extension/commands/action-command.ts';
export { addListCommand } from '#core/extension/commands/list-command.ts';
export { resourceCommand } from '#core/extension/commands/resource-command.ts';
export type { Gauge, Reading } from '#core/gateway/health/gauge.ts';
export type { Diagnosis, DiagnosisHost, DiagnosticCheck } from '#core/gateway/diagnosis/diagnosis.ts';
export type { Finding } from '#core/gateway/diagnosis/finding.ts';
export { checkOrigin, explainNetworkError } from '#core/gateway/diagnosis/network.ts';
export type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
export {
  inBrackets,
  type Problem,
  type ProblemKind,
  type ProblemReader,
  readEmphasis,
  type TextPiece,
} from '#core/web/problems/problem.ts';
export type { StatusReport } from '#core/gateway/health/status-report.ts';
export {
  type CheckContext,
  defineSection,
  type ProviderTerms,
  type Report,
  type Section,
  type SectionValue,
  type SectionValues,
  type YamlPath,
} from '#core/config/section.ts';
export { array, boolean, type Infer, integer, type JsonSchema, number, object, string } from '#core/platform/schema.ts';

// Stages and endpoints.
export {
  type DeferredAnswer,
  defineStage,
  type Observer,
  type Outcome,
  type Stage,
  type StageDefinition,
} from '#core/gateway/pipeline/stage.ts';
export type { BodySource, Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
export * from '#core/gateway/host/api-documentation.ts';
export { type AnyFact, defineFact, type Fact } from '#core/gateway/pipeline/fact.ts';
export * from '#core/gateway/facts.ts';
export { mapText } from '#core/gateway/pipeline/map-text.ts';
export type { TextMap, TextMapper } from '#core/gateway/pipeline/text-mapper.ts';
export type { ObjectEvent, ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
export { type BodyTransform, mapBody } from '#core/gateway/pipeline/map-body.ts';
export type { Reply, Trailers } from '#core/gateway/pipeline/reply.ts';
export {
  type Audience,
  ClientGone,
  type ErrorCode,
  type ErrorDetails,
  type ErrorMeaning,
  GatewayError,
} from '#core/platform/errors/table.ts';
export type { Dialect } from '#core/platform/errors/dialects.ts';
export type { JsonObject, JsonValue } from '#core/platform/json.ts';

// Pages.
export { codePieces, type CodePiece } from '#core/web/pages/code-pieces.ts';
export {
  axisBar,
  dayBars,
  type DayBars,
  latencyBar,
  type LatencyBar,
  type PassTicks,
  planTicks,
  sparkPath,
  ticks,
} from '#core/web/pages/geometry.ts';
export type { DayState } from '#core/business/model-health/days.ts';
export type { FormattedAmount, FormattedRemaining } from '#core/web/texts/durations.ts';
export type { FormattedTime, Formatter } from '#core/web/texts/formatter.ts';
export type { IconName } from '#core/web/pages/icons.ts';
export type { Navigation } from '#core/web/pages/page.ts';
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
} from '#core/web/pages/page.ts';
export type { CheckoutPart, CheckoutStep, SentencePiece } from '#core/web/pages/checkout-step.ts';
export type { OrderLine, PlacedOrder, RecordOrder } from '#core/business/payments/order-lines.ts';
export { markdownPage } from '#core/web/markdown/markdown-page.ts';
export { notFound, PageError, type PageErrorDetails } from '#core/web/pages/page-error.ts';
export { publishLive } from '#core/web/live/live-bus.ts';
export type { IssuedSession, OpenSession, SessionRecord, Sessions } from '#core/web/sessions/sessions.ts';
export { type SessionWithRoles, sessionOf, sessionsOf, signIn, signInPath } from '#core/web/sessions/sign-in.ts';
export { ownPath } from '#core/web/pages/paths.ts';
export { readAccountNames } from '#core/web/pages/account-name.ts';
export type { Preference } from '#core/web/pages/cookies.ts';
export { defineTexts, type Language, type Texts, type Translate } from '#core/web/texts/texts.ts';
export { defineSentences, type Text, type TextValues } from '#core/platform/sentences.ts';

// Operator actions and messages to customers.
export {
  account,
  type ActionKind,
  ActionRefused,
  type ActionSubject,
  amount,
  defineAction,
  lines,
  note,
  type SubjectKind,
  text,
  time,
} from '#core/business/operator-actions/action-kind.ts';
export * from '#core/business/operator-actions/member-describers.ts';
export type { Operator } from '#core/business/operator-actions/operator-actions.ts';
export { describeFields } from '#core/web/actions/action-fields.ts';
export { createActionForm } from '#core/web/actions/action-page.ts';
export { plainPage, type SubjectPage } from '#core/web/actions/plain-page.ts';
export { tablesPage } from '#core/web/actions/tables-page.ts';
export { actionCell, defineView, describeEntryFacts, fieldTable, withPersonNames } from '#core/web/resources/field.ts';
export { listPage } from '#core/web/resources/list-page.ts';
export { createAfterSchema, defineResource, type OperatorResource, readPage } from '#core/web/resources/resource.ts';
export type { Notice, NoticeReaders, NoticeSource } from '#core/web/pages/notices.ts';

// Request records.
export type { RequestRecord } from '#core/gateway/records/columns.ts';
export { countRequests, type RequestCount } from '#core/gateway/records/count-requests.ts';
export type { RequestFilter } from '#core/gateway/records/filter.ts';
export { findRequest, listRequests, readRequests, type RequestPage } from '#core/gateway/records/read-requests.ts';
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
} from '#core/gateway/records/usage.ts';
export { type LatencyHistogram, mergeHistograms, quantile } from '#core/gateway/records/latency-histogram.ts';
export { readRouteUsage, type RouteFault, type RouteUsage } from '#core/gateway/records/route-usage.ts';

// Tables, jobs and events.
export { defineEntity, type EntityManager, p } from '@mikro-orm/postgresql';
export { impersonal, personal, type PersonalOption } from '#core/platform/database/personal.ts';
export { Migration } from '@mikro-orm/migrations';
export type { Database, Notifications } from '#core/platform/database/database.ts';
export type { Entities, PluginTables } from '#core/platform/database/tables.ts';
export type { JobDefinition } from '#core/gateway/host/host.ts';
export { UnrecoverableJobError, type Jobs } from '#core/platform/jobs/jobs.ts';
export type { EventTypes, OrderEvent, PlanEvent } from '#core/gateway/events/events.ts';
export { type AccountEvent, readEvents, recordEvent } from '#core/business/accounts/account-events.ts';
export type { EventName, EventPublisher } from '#core/gateway/events/event-handler.ts';

// Emails to customers.
export * from '#core/gateway/mails/mail-kind.ts';

// The host that plugins get, and its members.
export type { Host, Service, Services } from '#core/gateway/host/host.ts';
export type { Logger } from '#core/platform/logger.ts';
export {
  type Cache,
  type CacheEntry,
  type Events,
  type Limiter,
  type Limits,
  type Shared,
  SharedUnavailable,
  type Take,
} from '#core/platform/shared/shared.ts';

// Models, vendors and upstreams.
export type { AuthScheme, Catalog, Model, Route, Upstream, Vendor } from '#core/config/catalog/catalog.ts';
export type { WireFormat, WireFormats } from '#core/config/catalog/formats.ts';
export type { Capabilities, CapabilitySettings } from '#core/config/catalog/capabilities.ts';
export type { Profile, ProfileSettings } from '#core/config/catalog/profile.ts';
export type { Quirks, QuirkSettings, ReasoningStyle } from '#core/config/catalog/quirks.ts';
export type { Usage } from '#core/gateway/model-call/adapter.ts';
export type {
  Adapter,
  ReplyReader,
  RouteCalls,
  UpstreamRequest,
  WholeReply,
} from '#core/gateway/model-call/adapter.ts';

// Payment providers.
export * from '#core/business/payments/payment-provider.ts';
export {
  callProvider,
  failureOf,
  type ProviderAnswer,
  type ProviderCall,
} from '#core/business/payments/call-provider.ts';
export { readRupiah } from '#core/business/payments/amount.ts';
export { isSameSecret } from '#core/platform/same-secret.ts';
export { type Qris, QrisError, type QrisField, readQris, writeQris } from '#core/business/payments/qris.ts';
