/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace points: the way of a submission through the driver. Documentation/driver.rst lists them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tessera

#if !defined(_TESSERA_TRACE_H_) || defined(TRACE_HEADER_MULTI_READ)
#define _TESSERA_TRACE_H_

#include <linux/tracepoint.h>

#include "tessera_file.h"
#include "tessera_queue.h"
#include "tessera_submit.h"

DECLARE_EVENT_CLASS(tessera_submission,
		    TP_PROTO(const struct tessera_submission *submission),
		    TP_ARGS(submission),
		    TP_STRUCT__entry(__string(queue, submission->queue->name)
				     __field(pid_t, pid)
				     __field(u64, id)
				     __field(u32, num_jobs)
		    ),
		    TP_fast_assign(__assign_str(queue);
				   __entry->pid = submission->pid;
				   __entry->id = submission->result->id;
				   __entry->num_jobs = submission->num_jobs;
		    ),
		    TP_printk("%s pid=%d id=%llu jobs=%u", __get_str(queue), __entry->pid,
			      __entry->id, __entry->num_jobs)
);

/* SUBMIT has accepted it; it waits for its dependencies */
DEFINE_EVENT(tessera_submission, tessera_submit,
	     TP_PROTO(const struct tessera_submission *submission),
	     TP_ARGS(submission)
);

/* Its jobs are handed to the device */
DEFINE_EVENT(tessera_submission, tessera_run,
	     TP_PROTO(const struct tessera_submission *submission),
	     TP_ARGS(submission)
);

/* The device says that something of the queue has completed */
TRACE_EVENT(tessera_interrupt,
	    TP_PROTO(const struct tessera_queue *queue),
	    TP_ARGS(queue),
	    TP_STRUCT__entry(__string(queue, queue->name)
			     __field(u64, completed)
	    ),
	    TP_fast_assign(__assign_str(queue);
			   __entry->completed = le64_to_cpu(READ_ONCE(queue->memory->completion));
	    ),
	    TP_printk("%s completed=%llu", __get_str(queue), __entry->completed)
);

/* It has ended, with or without an error */
TRACE_EVENT(tessera_done,
	    TP_PROTO(const struct tessera_submission *submission, int error),
	    TP_ARGS(submission, error),
	    TP_STRUCT__entry(__string(queue, submission->queue->name)
			     __field(pid_t, pid)
			     __field(u64, id)
			     __field(u32, num_jobs)
			     __field(u32, num_failed)
			     __field(int, error)
	    ),
	    TP_fast_assign(__assign_str(queue);
			   __entry->pid = submission->pid;
			   __entry->id = submission->result->id;
			   __entry->num_jobs = submission->num_jobs;
			   __entry->num_failed = submission->result->num_failed;
			   __entry->error = error;
	    ),
	    TP_printk("%s pid=%d id=%llu jobs=%u failed=%u error=%d", __get_str(queue),
		      __entry->pid, __entry->id, __entry->num_jobs, __entry->num_failed,
		      __entry->error)
);

/* One of its jobs has failed: the first */
TRACE_EVENT(tessera_fault,
	    TP_PROTO(const struct tessera_submission *submission, u32 job),
	    TP_ARGS(submission, job),
	    TP_STRUCT__entry(__string(queue, submission->queue->name)
			     __field(pid_t, pid)
			     __field(u64, id)
			     __field(u32, job)
			     __field(u32, cause)
			     __field(u32, operand)
			     __field(s64, offset)
	    ),
	    TP_fast_assign(__assign_str(queue);
			   __entry->pid = submission->pid;
			   __entry->id = submission->result->id;
			   __entry->job = job;
			   __entry->cause = submission->result->jobs[job].cause;
			   __entry->operand = submission->result->jobs[job].operand;
			   __entry->offset = submission->result->jobs[job].offset;
	    ),
	    TP_printk("%s pid=%d id=%llu job=%u cause=%u operand=%u offset=%lld",
		      __get_str(queue), __entry->pid, __entry->id, __entry->job, __entry->cause,
		      __entry->operand, __entry->offset)
);

/* A queue, or the device, is stopped and started again */
TRACE_EVENT(tessera_reset,
	    TP_PROTO(const char *what, u64 guilty, u32 cause),
	    TP_ARGS(what, guilty, cause),
	    TP_STRUCT__entry(__string(what, what)
			     __field(u64, guilty)
			     __field(u32, cause)
	    ),
	    TP_fast_assign(__assign_str(what);
			   __entry->guilty = guilty;
			   __entry->cause = cause;
	    ),
	    TP_printk("%s guilty=%llu cause=%u", __get_str(what), __entry->guilty,
		      __entry->cause)
);

#endif /* _TESSERA_TRACE_H_ */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tessera_trace
#include <trace/define_trace.h>
