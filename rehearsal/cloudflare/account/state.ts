/** State of an emulated account. Fields in snake_case are stored as the API received them. */

/** Settings that the emulation returns without interpreting them. */
export type Settings = Record<string, unknown>;

/** https://developers.cloudflare.com/api/resources/workers/subresources/beta/subresources/workers/ */
export interface WorkerRecord {
  id: string;
  name: string;
  created_on: string;
  updated_on: string;
  deployed_on: string | null;
  subdomain: { enabled: boolean; previews_enabled: boolean };
  /** logpush, observability, tags, tail_consumers and others. */
  settings: Settings;
  schedules: ScheduleRecord[];
  /** Tag of the last deployed migration. */
  migrationTag?: string;
}

interface ScheduleRecord {
  cron: string;
  created_on: string;
  modified_on: string;
}

/** A binding as the API received it, including the text of a secret. */
export interface BindingRecord {
  type: string;
  name: string;
  [field: string]: unknown;
}

/** A module of a version. Its content is stored in a file named after the content's hash. */
interface ModuleRecord {
  name: string;
  content_type: string;
  sha256: string;
}

/** SingleStepMigration of the official SDK. */
export interface MigrationStep {
  new_classes?: string[] | undefined;
  new_sqlite_classes?: string[] | undefined;
  deleted_classes?: string[] | undefined;
  renamed_classes?: { from: string; to: string }[] | undefined;
}

export interface MigrationRecord {
  old_tag?: string | undefined;
  new_tag?: string | undefined;
  steps: MigrationStep[];
}

/** A version: immutable code, bindings and settings of a Worker. */
export interface VersionRecord {
  id: string;
  workerId: string;
  number: number;
  created_on: string;
  main_module: string;
  modules: ModuleRecord[];
  bindings: BindingRecord[];
  containers: { class_name: string }[];
  compatibility_date: string;
  compatibility_flags: string[];
  migrations?: MigrationRecord;
  /** True after the first deployment, which applies the migrations. */
  migrated: boolean;
  /** annotations, limits, placement, usage_model and others. */
  settings: Settings;
}

export interface DomainRecord {
  id: string;
  environment: string;
  hostname: string;
  /** The Worker's name. */
  service: string;
}

export interface DeploymentRecord {
  id: string;
  workerId: string;
  created_on: string;
  versions: { version_id: string; percentage: number }[];
  annotations: Settings;
}

/** A Durable Object namespace: the objects of one class of one Worker. */
export interface NamespaceRecord {
  id: string;
  script: string;
  class: string;
  use_sqlite: boolean;
  /** Set when the class is created, and cannot change later (workers-sdk #14614). */
  containerEnabled: boolean;
}

export interface BucketRecord {
  name: string;
  creation_date: string;
  storage_class: string;
  location: string;
  /** Lifecycle rules; absent until a PUT replaces the default rule. */
  lifecycle?: Settings[];
}

/** https://developers.cloudflare.com/api/resources/containers/ */
export interface ApplicationRecord {
  id: string;
  name: string;
  namespaceId: string;
  created_at: string;
  updated_at: string;
  version: number;
  instances: number;
  configuration: { image: string; [field: string]: unknown };
  /** max_instances, constraints, observability, rollout_active_grace_period. */
  settings: Settings;
  rollouts: RolloutRecord[];
  /** Time at which a deleted application disappears from the API, in milliseconds since the epoch. */
  goneAt?: number;
}

export interface RolloutRecord {
  id: string;
  created_at: string;
  last_updated_at: string;
  description: string;
  strategy: string;
  kind: string;
  status: "pending" | "progressing" | "completed" | "reverted" | "replaced";
  reason?: string;
  current_configuration: Settings;
  target_configuration: Settings;
  current_version: number;
  target_version: number;
}

/** A reusable Access policy. `body` holds include, exclude, require and session_duration. */
export interface PolicyRecord {
  id: string;
  name: string;
  decision: string;
  created_at: string;
  updated_at: string;
  body: Settings;
}

export interface AccessApplicationRecord {
  id: string;
  aud: string;
  name: string;
  created_at: string;
  updated_at: string;
  destinations: { type: string; uri: string }[];
  policies: { id: string; precedence: number }[];
  body: Settings;
}

export interface AccountState {
  format: 1;
  accountId: string;
  /** The account's part of `<worker>.<subdomain>.workers.dev`. */
  subdomain: string;
  workers: WorkerRecord[];
  versions: VersionRecord[];
  deployments: DeploymentRecord[];
  namespaces: NamespaceRecord[];
  domains: DomainRecord[];
  buckets: BucketRecord[];
  applications: ApplicationRecord[];
  policies: PolicyRecord[];
  accessApplications: AccessApplicationRecord[];
}

export function emptyAccount(accountId: string, subdomain: string): AccountState {
  return {
    format: 1,
    accountId,
    subdomain,
    workers: [],
    versions: [],
    deployments: [],
    namespaces: [],
    domains: [],
    buckets: [],
    applications: [],
    policies: [],
    accessApplications: [],
  };
}
