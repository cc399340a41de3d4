/** Configuration of notifications: the registered targets (contract C3, N1). */
import {
  type ConfigOf,
  type CrossCheck,
  checkSecureUrl,
  duration,
  type KeyGroup,
  secret,
  targets,
  text,
  texts,
  wholeNumber,
} from '../config/key.js';
import { BATCH_EVENT, JOB_EVENTS } from '../jobs/notification.js';

/** What a submission may ask to be told of; `*` is all. */
export const JOB_EVENT_NAMES = [...JOB_EVENTS, '*'] as const;

/** What a target may want to hear. */
export const EVENT_NAMES = [...JOB_EVENTS, BATCH_EVENT, '*'] as const;

const TARGET_KEYS = {
  url: text({ isRequired: true, check: checkSecureUrl }),
  secret: secret(),
  events: texts({ check: checkEvent }),
  timeout_seconds: wholeNumber({ default: 10, max: 3600, zero: 'default' }),
  max_attempts: wholeNumber({ default: 5, max: 1000, zero: 'default' }),
} satisfies KeyGroup;

export const NOTIFY_KEYS = {
  notify_targets: targets(TARGET_KEYS),
  notify_workers: wholeNumber({ default: 4, max: 256, zero: 'default' }),
  /** Wait before the second attempt to deliver, doubled for each one after, at most 10 min; 0 waits not at all. */
  notify_retry_backoff: duration({ default: '5s', zero: 'itself', max: '500h' }),
  /** Pause between the attempts after `max_attempts`, for as long as the record is kept; 0 makes none. */
  notify_slow_retry: duration({ default: '1h', zero: 'itself', max: '500h' }),
} satisfies KeyGroup;

export type NotifyConfig = ConfigOf<typeof NOTIFY_KEYS>;

/** What is allowed but insecure. */
export const checkNotify: CrossCheck<NotifyConfig> = (config, findings) => {
  for (const [name, target] of config.notifyTargets) {
    if (target.secret !== undefined) continue;
    findings.warn(`notify_targets.${name}.secret`, 'is not set: the receiver cannot tell our calls from forged ones');
  }
};

function checkEvent(value: string): string | undefined {
  return (EVENT_NAMES as readonly string[]).includes(value) ? undefined : `events are ${EVENT_NAMES.join(', ')}`;
}
