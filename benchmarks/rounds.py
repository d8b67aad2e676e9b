"""Measures programs in interleaved rounds, and continues interrupted runs."""

from process import MeasureError, NotAvailable

# A variant of a peer that is slower than its fastest variant by this factor in the first
# round is not measured in later rounds, because only the fastest variant counts.
TOO_SLOW = 1.5
# Maximum number of rounds of variants that take up to a minute to start.
MAX_ROUNDS = {"compile": 3}


class Rounds:
    """Measures all programs of workloads. `measure(workload, program)`, `compile(workload,
    precision)` and `peak(precision)` return fields of a result or raise MeasureError."""

    def __init__(self, records, count, precisions, measure, compile, peak, say):
        self.records, self.count, self.precisions = records, count, precisions
        self.measure, self.compile, self.peak = measure, compile, peak
        self.say = say
        # Programs that failed in an earlier run are tried again: they may be installed now.
        self.failed = set()

    def run(self, workload, programs):
        """Runs all rounds of one workload. A round measures every program in turn, so
        that slow phases of the machine affect all of them."""
        for number in range(1, self.count + 1):
            pending = [program for program in programs
                       if self.is_pending(workload, program, number)]
            if not pending:
                continue
            self.say("{}: round {} of {}".format(workload.key, number,
                                                 self.count))
            if number == 1:
                self.measure_peak(workload)
            self.compile_plans(workload, number)
            for program in pending:
                # The round itself determines which variants are too slow.
                if self.is_pending(workload, program, number):
                    self.measure_one(workload, program, number)

    def is_pending(self, workload, program, number):
        return not (number > MAX_ROUNDS.get(program.variant, number)
                    or self.done(workload, program, number)
                    or (workload, program) in self.failed
                    or number > 1 and self.is_too_slow(workload, program))

    def done(self, workload, program, number=None):
        """Returns the times of a program in one round or in all rounds."""
        fields = {} if number is None else {"round": number}
        return [entry for entry in self.records.of(
            "time", workload=workload.key, program=program.key, **fields)
            if "median" in entry]

    def is_too_slow(self, workload, program):
        if not program.variant:
            return False
        times_by_program = {}
        for entry in self.records.of("time", workload=workload.key,
                                     peer=program.peer, measure=program.measure,
                                     precision=program.precision):
            if "median" in entry:
                times_by_program.setdefault(entry["program"], []).append(entry["median"])
        own_times = times_by_program.get(program.key)
        return bool(own_times) and min(own_times) > TOO_SLOW * min(
            map(min, times_by_program.values()))

    def measure_peak(self, workload):
        """Measures the peak before each workload; the maximum counts."""
        for precision in self.precisions:
            if self.records.of("peak", workload=workload.key,
                               precision=precision):
                continue
            try:
                self.records.add(kind="peak", workload=workload.key,
                                 precision=precision, **self.peak(precision))
            except MeasureError as error:
                self.say("  peak, {}: {}".format(precision, error))

    def compile_plans(self, workload, number):
        """Compiles the plans in every round: an earlier run's plans may have been deleted,
        and the compile time is a result too."""
        for precision in self.precisions:
            entry_fields = dict(workload=workload.key, precision=precision, round=number)
            try:
                result = self.compile(workload, precision)
            except MeasureError as error:
                self.say("  brewc, {}: {}".format(precision, error))
                continue
            if not self.records.of("compile", **entry_fields):
                self.records.add(kind="compile", **entry_fields, **result)

    def measure_one(self, workload, program, number):
        entry_fields = dict(kind="time", workload=workload.key, program=program.key,
                            title=program.title, peer=program.peer,
                            variant=program.variant, precision=program.precision,
                            measure=program.measure, round=number)
        try:
            result = self.measure(workload, program)
        except (MeasureError, OSError, ValueError, KeyError) as error:
            self.failed.add((workload, program))
            self.records.add(**entry_fields, failed=str(error),
                             missing=isinstance(error, NotAvailable))
            self.say("  {}, {}: not measured: {}".format(
                program.title, program.precision, error))
            return
        self.records.add(**entry_fields, **result)
        self.say("  {}, {}: {:.3f} ms".format(program.title, program.precision,
                                              result["median"] * 1e3))
