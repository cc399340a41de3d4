/** What the outbox holds: GET /v1/notifications, and sending one again by hand (contract N3). */
import { ServiceError } from '../errors.js';
import { timeText } from '../jobs/job-fields.js';
import type { NotificationSummary } from '../jobs/notification.js';
import { NotificationAnswer, NotificationListAnswer, type Written } from './answers.js';
import { cursorOf, cursorText, limitOf, shownText } from './list-query.js';
import { NoQuery, NotificationListQuery, NotificationParameters } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

/** A time and an id: the place of a notification in the list. */
const CURSOR = /^\d{1,15} [\w:]{1,100}$/;

export function notificationRoutes(server: HttpServer, services: HttpServices): void {
  server.get(
    '/v1/notifications',
    {
      schema: { querystring: NotificationListQuery },
      config: {
        api: {
          summary: 'Notifications, newest first, and what became of each',
          answers: { 200: { description: 'One page of them', schema: NotificationListAnswer } },
          errors: ['unavailable'],
        },
      },
    },
    async (request): Promise<Written<typeof NotificationListAnswer>> => {
      const { state, target, event, job, limit, cursor } = request.query;
      const filter = { state, target: target || undefined, event, subject: job || undefined };
      const page = await services.store.listNotifications(filter, limitOf(limit), cursorOf(cursor, CURSOR));
      return { notifications: page.items.map(notificationAnswer), next_cursor: cursorText(page.nextCursor) };
    },
  );

  server.post(
    '/v1/notifications/:id/redeliver',
    {
      schema: { params: NotificationParameters, querystring: NoQuery },
      config: {
        scope: 'admin',
        api: {
          summary: 'Send a notification again, whatever became of it',
          answers: { 202: { description: 'It is sent next', schema: NotificationAnswer } },
          errors: ['notification_not_found', 'unknown_notify_target', 'unavailable'],
        },
      },
    },
    async (request, reply): Promise<Written<typeof NotificationAnswer>> => {
      const notification = await redelivered(request.params.id, services);
      services.wakeNotifier();
      reply.code(202);
      return notificationAnswer(notification);
    },
  );
}

async function redelivered(id: string, { store, rules, now }: HttpServices): Promise<NotificationSummary> {
  const found = await store.notification(id);
  // It would be dead again at once, and nobody would know why.
  if (found && !rules.notifyTargets.has(found.target)) {
    throw new ServiceError(
      'unknown_notify_target',
      `Notification ${id} is for "${found.target}", which is not among the notify_targets of the service any more; ` +
        'configure it, restart, and send the notification again then',
    );
  }
  const due = found && (await store.redeliverNotification(id, now()));
  if (due) return due;
  throw new ServiceError(
    'notification_not_found',
    `There is no notification ${shownText(id)}; GET /v1/notifications lists them, and each goes with the record of its job`,
  );
}

function notificationAnswer(notification: NotificationSummary): Written<typeof NotificationAnswer> {
  return {
    id: notification.id,
    job_id: notification.jobId,
    batch_id: notification.batchId,
    target: notification.target,
    event: notification.event,
    state: notification.state,
    attempts: notification.attempts,
    created_at: new Date(notification.createdAtMs).toISOString(),
    next_attempt_at: timeText(notification.nextAttemptAtMs),
    delivered_at: timeText(notification.deliveredAtMs),
    last_status: notification.lastStatus,
    last_error: notification.lastError,
  };
}
