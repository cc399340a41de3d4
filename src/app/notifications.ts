/** The notifier of the service: targets and pace from the configuration, a log line for every attempt. */
import type { DeliveryResult, Notification, Outbox, TargetEvents } from '../jobs/notification.js';
import type { Logger } from '../log/log.js';
import { Notifier } from '../notify/notifier.js';
import type { Config } from './settings.js';

export function notifierOf(config: Config, outbox: Outbox, logger: Logger): Notifier {
  return new Notifier({
    outbox,
    targets: config.notifyTargets,
    workers: config.notifyWorkers,
    backoffMs: config.notifyRetryBackoffMs,
    slowRetryMs: config.notifySlowRetryMs,
    now: Date.now,
    onAttempt: (notification, result) => logAttempt(logger, notification, result),
    onError: (error) => logger.error({ err: error }, 'notify'),
  });
}

/** What each target wants to hear, for the store that writes the notifications. */
export function targetEventsOf(config: Config): TargetEvents {
  return Object.fromEntries([...config.notifyTargets].map(([name, { events }]) => [name, events]));
}

function logAttempt(logger: Logger, { id, target, attempts }: Notification, result: DeliveryResult): void {
  const { state, status, error } = result;
  const fields = { notification: id, target, attempt: attempts + 1, state, status, error };
  if (state === 'delivered') logger.info(fields, 'notify');
  else logger.warn(fields, 'notify');
}
