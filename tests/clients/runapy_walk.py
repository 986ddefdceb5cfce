# SPDX-License-Identifier: Apache-2.0
"""One walk through the API with Run:ai's own Python SDK, unmodified, in each of its three kinds:
plain, threaded and async. Run by runapy_test.py inside an environment that has the SDK.

usage: runapy_walk.py URL CLIENT_ID CLIENT_SECRET KIND RESULTS

RESULTS receives, as JSON, the operations (by operationId) that the walk has shown: "done" for one
through which something was changed and read back, or through which was read what another call had
changed; "partial" for one that answers, but with less than it should."""

import asyncio
import datetime
import json
import sys
import time

from runai import models
from runai.api_client import ApiClient, AsyncApiClient, ThreadedApiClient
from runai.configuration import Configuration
from runai.exceptions import (BadRequestException, ConflictException, ForbiddenException,
                              NotFoundException, UnauthorizedException)
from runai.runai_client import RunaiClient
from urllib3.exceptions import MaxRetryError

DEADLINE_S = 60


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def same(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


class Plain:
    """How one kind of client is called and what it answers."""

    def __init__(self, configuration):
        self.client = RunaiClient(ApiClient(configuration))

    def __call__(self, function, *args, **kwargs):
        return function(*args, **kwargs)

    def together(self, calls):
        return [self(function, *args, **kwargs) for function, args, kwargs in calls]

    def close(self):
        self.client.close()


class Threaded(Plain):
    def __init__(self, configuration):
        self.client = RunaiClient(ThreadedApiClient(configuration, pool_size=4))

    def __call__(self, function, *args, **kwargs):
        return function(*args, **kwargs).get(DEADLINE_S)

    def together(self, calls):
        waiting = [function(*args, **kwargs) for function, args, kwargs in calls]
        return [each.get(DEADLINE_S) for each in waiting]


class Async(Plain):
    def __init__(self, configuration):
        self.loop = asyncio.new_event_loop()

        async def make():
            return RunaiClient(AsyncApiClient(configuration))

        self.client = self.loop.run_until_complete(make())

    def __call__(self, function, *args, **kwargs):
        async def call():
            return await function(*args, **kwargs)
        return self.loop.run_until_complete(call())

    def together(self, calls):
        async def all_of_them():
            return await asyncio.gather(*[f(*args, **kwargs) for f, args, kwargs in calls])
        return self.loop.run_until_complete(all_of_them())

    def close(self):
        self.loop.run_until_complete(self.client.aclose())
        self.client.api_client = None
        self.loop.close()


class Walk:
    def __init__(self, kind):
        self.kind = kind
        c = kind.client
        self.org, self.work = c.organizations, c.workloads
        self.access = c.authentication_and_authorization
        self.shown = {}

    def call(self, function, *args, **kwargs):
        return self.kind(function, *args, **kwargs)

    def data(self, function, *args, **kwargs):
        return self.call(function, *args, **kwargs).data

    def status(self, function, *args, **kwargs):
        return self.call(function, *args, **kwargs).status_code

    def done(self, *operations):
        for name in operations:
            self.shown[name] = "done"

    def partial(self, *operations):
        for name in operations:
            self.shown.setdefault(name, "partial")

    def fails(self, exception, function, *args, **kwargs):
        """The error's body."""
        try:
            self.call(function, *args, **kwargs)
        except exception as e:
            body = json.loads(e.body) if isinstance(e.body, (str, bytes)) else e.body
            check(body["code"] == e.status and body["message"] and "details" in body, body)
            return body
        raise AssertionError(f"{function.__name__} was not refused")

    def until(self, what, condition):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"not in {DEADLINE_S} s: {what}")


def gpus(pool, deserved, limit=None, weight=2):
    return models.ResourcesNullable(
        node_pool=models.ResourcesNodePool(id=pool),
        gpu=models.NonNullResource(deserved=deserved, limit=limit, over_quota_weight=weight),
        cpu=models.Resource(deserved=None, limit=None, over_quota_weight=weight))


def span():
    """The hour up to now, without a zone, as programs write it."""
    now = datetime.datetime.utcnow()
    return {"start": now - datetime.timedelta(hours=1), "end": now}


def walk_clusters(w):
    clusters = w.data(w.org.clusters.get_clusters)
    same(len(clusters), 1, "clusters")
    cluster = clusters[0]["uuid"]
    name = clusters[0]["name"]
    w.call(w.org.clusters.update_cluster, cluster, models.ClusterUpdateRequest(name="renamed"))
    same(w.data(w.org.clusters.get_cluster_by_uuid, cluster)["name"], "renamed")
    same(w.data(w.org.clusters.get_clusters)[0]["name"], "renamed")
    w.call(w.org.clusters.update_cluster, cluster, models.ClusterUpdateRequest(name=name))
    w.fails(NotFoundException, w.org.clusters.get_cluster_by_uuid,
            "00000000-0000-4000-8000-000000000000")
    w.done("get_clusters", "get_cluster_by_uuid", "update_cluster")
    same(w.status(w.org.clusters.create_cluster, models.ClusterCreationRequest(name=name)), 201)
    w.fails(ConflictException, w.org.clusters.create_cluster,
            models.ClusterCreationRequest(name="another"))
    w.fails(ConflictException, w.org.clusters.delete_cluster, cluster)
    w.partial("create_cluster", "delete_cluster")
    return cluster


def walk_pools(w, cluster):
    api = w.org.node_pools
    default = [p for p in w.data(api.get_nodepools)["nodepools"] if p["isDefault"]][0]["id"]
    made = w.data(api.create_nodepool, models.NodepoolCreateFields(
        name="walked", label_key="walk", label_value="yes", cluster_id=cluster,
        scheduling_configuration={"placementStrategy": {"gpu": "spread", "cpu": "binpack"},
                                  "minGuaranteedRuntime": "10m"}))
    same(made["phase"], "Empty")
    found = w.data(api.get_nodepool, made["id"])
    same(found["schedulingConfiguration"]["minGuaranteedRuntime"], "10m")
    same(found["placementStrategy"]["gpu"], "spread")
    same(w.data(api.count_nodepools, filter_by=["name==walked"])["count"], 1)
    listed = w.data(api.get_nodepools, filter_by=["name=^wal"], sort_by="name", limit=1)
    same([p["id"] for p in listed["nodepools"]], [made["id"]])
    w.call(api.patch_nodepool, made["id"], models.NodepoolUpdateFields(label_value="no"))
    found = w.data(api.get_nodepool, made["id"])
    same((found["labelValue"], found["placementStrategy"]["gpu"]), ("no", "spread"))
    w.call(api.update_nodepool, made["id"],
           models.NodepoolUpdateFields(label_key="walk", label_value="maybe"))
    found = w.data(api.get_nodepool, made["id"])
    same((found["labelValue"], found["placementStrategy"]["gpu"]), ("maybe", "binpack"))
    body = w.fails(BadRequestException, api.patch_nodepool, made["id"],
                   models.NodepoolUpdateFields(over_provisioning_ratio=2))
    same(body["field"], "overProvisioningRatio")
    series = w.call(api.get_nodepool_metrics, cluster, "walked",
                    metric_type=["TOTAL_GPU", "ALLOCATED_GPU"], **span())
    same((series.status_code, [m["type"] for m in series.data["measurements"]]),
         (200, ["TOTAL_GPU", "ALLOCATED_GPU"]))
    w.call(api.delete_nodepool, made["id"])
    w.fails(NotFoundException, api.get_nodepool, made["id"])
    w.fails(ConflictException, api.delete_nodepool, default)
    w.done("get_nodepools", "create_nodepool", "get_nodepool", "count_nodepools", "patch_nodepool",
           "update_nodepool", "delete_nodepool", "get_nodepool_metrics")
    return default


def walk_departments(w, cluster, pool):
    api = w.org.departments
    made = w.data(api.create_department, models.DepartmentCreationRequest(
        name="walkers", cluster_id=cluster, description="on foot",
        resources=[gpus(pool, 3, 4, 3)]))
    found = w.data(api.get_department, made["id"])
    row = [r for r in found["resources"] if r["nodePool"]["id"] == pool][0]
    same((row["gpu"]["deserved"], row["gpu"]["limit"], row["gpu"]["overQuotaWeight"]), (3, 4, 3))
    same((found["description"], found["totalResources"]["gpuQuota"]), ("on foot", 3))
    same(w.data(api.count_departments, filter_by=["name==walkers"])["count"], 1)
    listed = w.data(api.get_departments, filter_by=["name=@alker", "totalGpuQuota>=2.5"],
                    sort_by=models.DepartmentFilterSortFields.NAME, sort_order="desc", verbosity="verbose")
    same([d["name"] for d in listed["departments"]], ["walkers"])
    check("status" in listed["departments"][0], "verbose")
    w.call(api.update_department, made["id"], models.DepartmentUpdateRequest(
        description="by bicycle", resources=[gpus(pool, 4)]))
    found = w.data(api.get_department, made["id"])
    same((found["description"], found["totalResources"]["gpuQuota"]), ("by bicycle", 4))
    rows = w.data(api.patch_department_resources, made["id"],
                  [{"nodePool": {"id": pool}, "gpu": {"limit": 4}}])
    row = [r for r in rows if r["nodePool"]["id"] == pool][0]
    same((row["gpu"]["deserved"], row["gpu"]["limit"]), (4, 4))
    # An empty list comes as an empty body in pieces; it changes nothing here.
    same(w.data(api.patch_department_resources, made["id"], []), rows, "an empty body")
    w.call(api.update_department_resources, made["id"], [gpus(pool, 4)])
    row = [r for r in w.data(api.get_department, made["id"])["resources"]
           if r["nodePool"]["id"] == pool][0]
    same((row["gpu"]["deserved"], row["gpu"]["limit"]), (4, None))
    same(w.status(api.create_department, models.DepartmentCreationRequest(
        name="riders", cluster_id=cluster, resources=[])), 201)
    # The same once more, as a client sends it that lost the answer.
    riders = w.data(api.create_department,
                    models.DepartmentCreationRequest(name="riders", cluster_id=cluster, resources=[]))
    w.fails(ConflictException, api.create_department, models.DepartmentCreationRequest(
        name="riders", cluster_id=cluster, description="others", resources=[]))
    w.call(api.delete_department, riders["id"])
    w.fails(NotFoundException, api.get_department, riders["id"])
    now = w.data(api.get_departments_telemetry, telemetry_type=models.OrgUnitTelemetryType.GPU_QUOTA)
    check(float(now["values"][0]["value"]) >= 4, now)
    series = w.call(api.get_department_metrics, made["id"],
                    metric_type=["GPU_QUOTA", "GPU_ALLOCATION"], number_of_samples=5, **span())
    same(len(series.data["measurements"]), 2)
    names = {p["name"]: p for p in w.data(w.access.org_unit.get_priorities)["priorities"]}
    check([n for n, p in names.items() if p["isDefault"]] == ["MediumLow"], names)
    rows = w.data(api.patch_department_resources, made["id"],
                  [{"nodePool": {"id": pool}, "priority": "High"}])
    same([r for r in rows if r["nodePool"]["id"] == pool][0]["priority"], "High")
    w.done("create_department", "get_department", "count_departments", "get_departments",
           "update_department", "patch_department_resources", "update_department_resources",
           "delete_department", "get_departments_telemetry", "get_department_metrics",
           "get_priorities")
    return made["id"]


def walk_projects(w, cluster, pool, department):
    api = w.org.projects
    made = w.data(api.create_project, models.ProjectCreationRequest(
        name="walk-a", cluster_id=cluster, parent_id=department, resources=[gpus(pool, 2.5)]))
    found = w.data(api.get_project, made["id"])
    same((found["parent"]["name"], found["totalResources"]["gpuQuota"], found["status"]["namespace"]),
         ("walkers", 2.5, "runai-walk-a"))
    same(w.data(api.count_projects, search="walk-")["count"], 1)
    others = w.kind.together([
        (api.create_project, [models.ProjectCreationRequest(
            name=f"walk-{n}", cluster_id=cluster, parent_id=department, resources=[])], {})
        for n in "bcde"])
    same([o.status_code for o in others], [201] * 4, "made at the same time")
    page = w.data(api.get_projects, filter_by=["parentName==walkers"], sort_order="desc",
                  sort_by=models.ProjectFilterSortFields.NAME, limit=2, offset=1)
    same(([p["name"] for p in page["projects"]], page["next"]), (["walk-d", "walk-c"], 3))
    page = w.data(api.get_projects, filter_by=["name!=walk-b", "parentName==walkers"], limit=50)
    same(("next" in page, len(page["projects"])), (False, 4))
    body = w.fails(BadRequestException, api.get_projects, filter_by=["nam==x"])
    same(body["field"], "filterBy")
    w.fails(BadRequestException, api.get_projects, limit=501)
    w.call(api.update_project, made["id"], models.ProjectUpdateRequest(
        description="first", default_node_pools=["default"], resources=[gpus(pool, 2, 2)]))
    found = w.data(api.get_project, made["id"])
    same((found["description"], found["effective"]["defaultNodePools"],
          found["totalResources"]["gpuQuota"]), ("first", ["default"], 2))
    rows = w.data(api.patch_project_resources, made["id"],
                  [{"nodePool": {"id": pool}, "gpu": {"limit": 3}}])
    row = [r for r in rows if r["nodePool"]["id"] == pool][0]
    same((row["gpu"]["deserved"], row["gpu"]["limit"]), (2, 3))
    rows = w.data(api.update_project_resources, made["id"], [gpus(pool, 1)])
    row = [r for r in rows if r["nodePool"]["id"] == pool][0]
    same((row["gpu"]["deserved"], row["gpu"]["limit"]), (1, None))
    w.fails(BadRequestException, api.patch_project_resources, made["id"],
            [{"nodePool": {"id": pool}, "gpu": {"deserved": -2}}])
    w.fails(NotFoundException, api.patch_project_resources, made["id"],
            [{"nodePool": {"id": "999999"}, "gpu": {"deserved": 1}}])
    for other in others:
        w.call(api.delete_project, other.data["id"])
    w.fails(NotFoundException, api.get_project, others[0].data["id"])
    w.done("create_project", "get_project", "count_projects", "get_projects", "update_project",
           "patch_project_resources", "update_project_resources", "delete_project")
    return made["id"]


def walk_scheduling_rules(w, cluster, pool, department):
    """Read back, and kept to by what runs."""
    api = w.org.projects
    project = w.data(api.create_project, models.ProjectCreationRequest(
        name="walk-rules", cluster_id=cluster, parent_id=department, resources=[gpus(pool, 0)],
        scheduling_rules=models.SchedulingRules(training_job_time_limit_seconds=7200),
        node_types=models.NodeTypesPerWorkload(training=["walk"])))["id"]
    w.call(w.org.departments.update_department, department,
           {"schedulingRules": {"trainingJobTimeLimitSeconds": 3}})
    found = w.data(api.get_project, project)
    same((found["schedulingRules"], found["nodeTypes"]["training"],
          found["effective"]["schedulingRules"]),
         ({"trainingJobTimeLimitSeconds": 7200}, ["walk"], {"trainingJobTimeLimitSeconds": 3}))
    body = {"name": "walk-r", "projectId": project, "clusterId": cluster, "spec": {
        "command": "sleep 600", "terminationGracePeriodSeconds": 1}}
    refused_ = w.fails(BadRequestException, w.work.trainings.create_training1, body)
    same(refused_["field"], "spec.nodeType")
    w.call(api.update_project, project, models.ProjectUpdateRequest(resources=[gpus(pool, 0)]))
    same(w.data(api.get_project, project)["nodeTypes"]["training"], [])
    made = w.data(w.work.trainings.create_training1, body)["workloadId"]
    w.until("it is stopped", phase_is(w, made, "Stopped"))
    told = [r["spec"]["event"]["message"] for r in w.data(
        w.work.events.get_workload_history, made)["records"] if r["meta"]["type"] == "Event"]
    check([t for t in told if "no longer than 3s" in t], told)
    check([t for t in told if "half of the 3s" in t], told)
    w.call(w.work.trainings.delete_training, made)
    w.until("it is gone", is_gone(w, made))
    w.call(w.org.departments.update_department, department, {"schedulingRules": {}})
    w.call(api.delete_project, project)


def walk_nodes(w, cluster):
    api = w.org.nodes
    nodes = w.data(api.get_tenant_nodes)["nodes"]
    same(w.data(api.count_tenant_nodes)["count"], len(nodes))
    same(w.data(api.count_nodes, cluster, filter_by=["status==Ready"])["count"], len(nodes))
    check(nodes[0]["gpuInfo"]["gpuCount"] == 4 and nodes[0]["nodePool"] == "default", nodes[0])
    same(w.data(api.get_tenant_nodes, filter_by=[f"name!={nodes[0]['name']}"])["nodes"], [])
    same([n["id"] for n in w.data(api.get_nodes, cluster)["nodes"]], [nodes[0]["id"]])
    w.done("get_tenant_nodes", "count_tenant_nodes", "count_nodes", "get_nodes")
    return nodes[0]


def phase_is(w, workload, *phases):
    return lambda: w.data(w.work.workloads.get_workload, workload)["phase"] in phases


def is_gone(w, workload):
    def gone():
        try:
            w.call(w.work.workloads.get_workload, workload)
        except NotFoundException:
            return True
        return False
    return gone


def walk_training(w, cluster, project):
    api = w.work.trainings
    asked = {"command": "sleep 600", "image": "host", "compute": {"gpuDevicesRequest": 1},
             "labels": [{"name": "environment", "value": "development"}],
             "environmentVariables": [{"name": "A", "value": "b c"}],
             "terminationGracePeriodSeconds": 1}
    made = w.data(api.create_training1, models.TrainingCreationRequest(
        name="walk-t", project_id=project, cluster_id=cluster,
        spec=models.TrainingSpecSpec.from_dict(asked)))
    training = made["workloadId"]
    found = w.data(api.get_training, training)
    for key, value in asked.items():
        got = found["spec"][key]
        got = [{k: v for k, v in item.items() if v not in (None, False)} for item in got] \
            if isinstance(got, list) else got
        same(got, value, key)
    w.until("it runs", phase_is(w, training, "Running"))
    again = w.data(api.create_training1, models.TrainingCreationRequest(
        name="walk-t", project_id=project, cluster_id=cluster,
        spec=models.TrainingSpecSpec.from_dict(asked)))
    same(again["workloadId"], training, "the same once more")
    w.fails(ConflictException, api.create_training1, {
        "name": "walk-t", "projectId": project, "clusterId": cluster,
        "spec": {"command": "sleep 1"}})
    body = w.fails(BadRequestException, api.create_training1, {
        "name": "walk-x", "projectId": project, "clusterId": cluster,
        "spec": {"command": "sleep 1", "compute": {"gpuDevicesRequest": -1}}})
    same(body["field"], "spec.compute.gpuDevicesRequest")
    w.call(api.suspend_training, training)
    w.until("it is stopped", phase_is(w, training, "Stopped"))
    same(w.data(api.get_training, training)["desiredPhase"], "Stopped")
    w.call(api.resume_training, training)
    w.until("it runs again", phase_is(w, training, "Running"))
    w.done("create_training1", "get_training", "suspend_training", "resume_training")
    return training


def walk_read_model(w, cluster, project, training, node):
    api = w.work.workloads
    found = w.data(api.get_workload, training)
    same((found["type"], found["category"], found["projectId"], found["runningPods"],
          found["environmentVariables"]), ("Training", "Train", project, 1, {"A": "b c"}))
    same(found["allocatedResources"]["gpu"], 1)
    listed = w.data(api.get_workloads, deleted=False, filter_by=["projectName==walk-a",
                    "phase==Running"], sort_by="createdAt", sort_order="desc", search="walk", limit=50)
    same([x["id"] for x in listed["workloads"]], [training])
    same(w.data(api.count_workloads, filter_by=["type==Training", "name==walk-t"])["count"], 1)
    now = w.data(api.get_workloads_telemetry, telemetry_type="GPU_ALLOCATION",
                 group_by=["ProjectId"], filter_by_phases=["Running"])
    same([v["value"] for v in now["values"] if v["groups"][0]["value"] == project], ["1"])
    pods = w.data(w.work.pods.get_workload_pods, training)["pods"]
    same((len(pods), pods[0]["nodeName"], pods[0]["k8sPhase"]), (1, node["name"], "Running"))
    every = w.data(w.work.pods.list_pods, filter_by=[f"workloadId=={training}"])["pods"]
    same([p["id"] for p in every], [pods[0]["id"]])
    same(w.data(w.work.pods.count_pods, filter_by=[f"workloadId=={training}"])["count"], 1)
    events = w.data(w.work.events.get_workload_events, training, limit=50)["events"]
    check({"Created", "Scheduled", "Started", "Suspended", "Resumed"} <= {e["reason"] for e in events},
          events)
    first = w.data(w.work.events.get_workload_events, training, sort_order="asc", limit=1)
    same((first["events"][0]["reason"], first["next"]), ("Created", 1))
    records = w.data(w.work.events.get_workload_history, training)["records"]
    phases = [r["spec"]["phaseUpdate"]["phase"] for r in records if r["meta"]["type"] == "PhaseUpdate"]
    check(phases[0] == "Running" and "Stopping" in phases, phases)
    w.done("get_workload", "get_workloads", "count_workloads", "get_workloads_telemetry",
           "get_workload_pods", "list_pods", "count_pods", "get_workload_events",
           "get_workload_history")
    # Numbers over time, of work that runs.
    now = datetime.datetime.now(datetime.timezone.utc)
    moment = {"start": now - datetime.timedelta(seconds=2), "end": now, "number_of_samples": 2}
    same(last(w.data(api.get_workload_metrics, training,
                     metric_type=["GPU_ALLOCATION", "POD_COUNT"], **moment)), ["1", "1"])
    partly = w.call(api.get_workload_metrics, training, metric_type=["GPU_UTILIZATION"], **moment)
    same(partly.status_code, 207)
    w.partial("get_workload_metrics")
    partly = w.call(w.work.pods.get_workload_pod_metrics, training, pods[0]["id"],
                    metric_type=["CPU_USAGE_CORES"], **moment)
    same(partly.status_code, 207)
    w.partial("get_workload_pod_metrics")
    held = w.call(w.org.nodes.get_node_metrics, node["id"],
                  metric_type=["GPU_ALLOCATION_PER_GPU"], **span())
    same(sum(float(x) for x in last(held.data)), 1)
    w.partial("get_node_metrics")
    same(w.data(w.org.nodes.get_node_telemetry, telemetry_type="FREE_GPUS")["values"][0]["value"], "3")
    w.done("get_node_telemetry")
    same(w.data(w.org.projects.get_projects_telemetry,
                telemetry_type="GPU_ALLOCATION")["values"][0]["value"], "1")
    end = w.until("the books show it", lambda: [
        x for x in last(w.data(w.org.projects.get_project_metrics, project,
                               metric_type=["GPU_ALLOCATION"], **now_span())) if float(x) > 0])
    check(end, end)
    w.done("get_projects_telemetry", "get_project_metrics")
    held = w.data(w.org.clusters.get_cluster_metrics, cluster, metric_type=["WORKLOADS_COUNT",
                  "ALLOCATED_GPU"], group_by="Project", **now_span())
    found = {m["type"]: m["values"][-1]["value"] for m in held["measurements"]
             if m["groups"][0]["value"] == "walk-a"}
    check(float(found["WORKLOADS_COUNT"]) == 1 and float(found["ALLOCATED_GPU"]) > 0, found)
    w.done("get_cluster_metrics")


def now_span():
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"start": now - datetime.timedelta(seconds=1), "end": now, "number_of_samples": 1}


def last(metrics):
    return [m["values"][-1]["value"] for m in metrics["measurements"] if m["values"]]


def walk_other_kinds(w, cluster, project):
    head = {"projectId": project, "clusterId": cluster}
    spec = {"command": "sleep 600", "terminationGracePeriodSeconds": 1}
    api = w.work.workspaces
    made = w.data(api.create_workspace1, {"name": "walk-w", **head, "spec": {
        **spec, "compute": {"gpuPortionRequest": 0.5, "gpuRequestType": "portion"},
        "preemptibility": "preemptible"}})["workloadId"]
    w.until("it runs", phase_is(w, made, "Running"))
    found = w.data(w.work.workloads.get_workload, made)
    same((found["type"], found["allocatedResources"]["gpu"], found["priorityClassName"]),
         ("Workspace", 0.5, "high"))
    same(w.data(api.get_workspace, made)["spec"]["compute"]["gpuPortionRequest"], 0.5)
    w.call(api.suspend_workspace, made)
    w.until("it is stopped", phase_is(w, made, "Stopped"))
    w.call(api.resume_workspace, made)
    w.until("it runs again", phase_is(w, made, "Running"))
    w.call(api.delete_workspace, made)
    w.until("it is gone", is_gone(w, made))
    w.done("create_workspace1", "get_workspace", "suspend_workspace", "resume_workspace",
           "delete_workspace")

    api = w.work.distributed
    made = w.data(api.create_distributed, models.DistributedCreationRequest(
        name="walk-d", project_id=project, cluster_id=cluster, master_spec_same_as_worker=True,
        spec={"distributedFramework": "PyTorch", "numWorkers": 1, "image": "host",
              "terminationGracePeriodSeconds": 1, "command": "sh -c",
              "args": "'test $WORLD_SIZE = 2 -a -n $RANK -a $MASTER_ADDR = 127.0.0.1 && sleep 600'"}))["workloadId"]
    w.until("it runs", phase_is(w, made, "Running"))
    found = w.data(w.work.workloads.get_workload, made)
    same((found["type"], found["runningPods"], found["distributedFramework"]),
         ("Distributed", 2, "PyTorch"))
    same(w.data(api.get_distributed, made)["masterSpecSameAsWorker"], True)
    w.call(api.suspend_distributed, made)
    w.until("it is stopped", phase_is(w, made, "Stopped"))
    w.call(api.resume_distributed, made)
    w.until("it runs again", phase_is(w, made, "Running"))
    w.call(api.delete_distributed, made)
    w.until("it is gone", is_gone(w, made))
    w.done("create_distributed", "get_distributed", "suspend_distributed", "resume_distributed",
           "delete_distributed")

    made = w.data(api.create_distributed, {"name": "walk-e", **head, "masterSpecSameAsWorker": True,
        "spec": {**spec, "image": "host", "distributedFramework": "PyTorch", "minReplicas": 1, "numWorkers": 2,
                 "maxReplicas": 3, "command": "sh -c", "args": "'test $PET_NNODES = 2:4 && sleep 600'"}})["workloadId"]
    w.until("it runs", phase_is(w, made, "Running"))
    found = w.data(w.work.workloads.get_workload, made)["requestedPods"]
    same((found["min"], found["max"]), (2, 4))
    w.call(api.delete_distributed, made)
    w.until("it is gone", is_gone(w, made))

    made = w.data(w.work.trainings.create_training1, {"name": "walk-c", **head, "spec": {
        "command": "true", "completions": 5, "parallelism": 2}})["workloadId"]
    w.until("it is over", phase_is(w, made, "Completed"))
    found = w.data(w.work.workloads.get_workload, made)["requestedPods"]
    same((found["completions"], found["parallelism"]), (5, 2))
    w.call(w.work.trainings.delete_training, made)

    api = w.work.inferences
    made = w.data(api.create_inference1, {"name": "walk-i", **head, "spec": {
        "command": "sleep 600", "autoscaling": {"minReplicas": 2, "maxReplicas": 2},
        "preemptibility": "preemptible"}})["workloadId"]
    w.until("it runs", phase_is(w, made, "Running"))
    found = w.data(w.work.workloads.get_workload, made)
    same((found["type"], found["runningPods"], found["actionsSupport"]["suspend"]),
         ("Inference", 2, False))
    same(w.data(api.get_inference, made)["spec"]["autoscaling"]["minReplicas"], 2)
    replicas = {"spec": {"autoscaling": {"minReplicas": 1, "maxReplicas": 1}}}
    w.call(api.update_inference_spec, made, replicas)
    w.until("one is left", lambda: w.data(
        w.work.workloads.get_workload, made)["runningPods"] == 1)
    w.call(api.update_inference_spec, made, models.InferenceUpdateRequest(
        spec=models.InferenceUpdateSpecSpec(
            environment_variables=[models.EnvironmentVariable(name="MODEL", value="b")])))
    found = w.data(api.get_inference, made)["spec"]
    same((found["command"], found["autoscaling"]["minReplicas"],
          found["environmentVariables"][0]["value"]), ("sleep 600", 1, "b"))
    w.until("it runs anew", phase_is(w, made, "Running"))
    same(w.data(w.work.workloads.get_workload, made)["environmentVariables"], {"MODEL": "b"})
    w.fails(NotFoundException, api.update_inference_spec,
            "00000000-0000-4000-8000-000000000000", replicas)
    w.done("update_inference_spec")
    types = [models.InferenceWorkloadMetricType.THROUGHPUT]
    answer = w.call(api.get_inference_workload_metrics, made, types, **now_span())
    same((answer.status_code, answer.data["measurements"][0]["values"]), (207, []))
    pod = w.data(w.work.pods.get_workload_pods, made)["pods"][0]["id"]
    same(w.status(api.get_inference_workload_pod_metrics, made, pod, types, **now_span()), 207)
    # Requests do not go through weir, so there is nothing to read.
    w.partial("get_inference_workload_metrics", "get_inference_workload_pod_metrics")
    w.call(api.delete_inference, made)
    w.until("it is gone", is_gone(w, made))
    w.done("create_inference1", "get_inference", "delete_inference")


def walk_batch(w, cluster, project, training):
    head = {"projectId": project, "clusterId": cluster, "spec": {
        "command": "sleep 600", "terminationGracePeriodSeconds": 1}}
    more = [r.data["workloadId"] for r in w.kind.together([
        (w.work.trainings.create_training1, [{"name": f"walk-b{n}", **head}], {})
        for n in range(4)])]
    nobody = "00000000-0000-4000-8000-000000000000"
    answer = w.data(w.work.workloads_batch.batch_workloads,
                    models.WorkloadBatch(ids=[*more, nobody], action="delete"))
    same((sorted(answer["succeeded"]), [f["code"] for f in answer["failed"]]), (sorted(more), [404]))
    w.until("they are gone", lambda: not w.data(
        w.work.workloads.get_workloads, filter_by=["name=^walk-b"])["workloads"])
    w.until("they are told of", lambda: w.data(
        w.work.workloads.count_workloads, deleted=True, filter_by=["name=^walk-b"])["count"] == 4)
    told = w.data(w.work.workloads.get_workloads, deleted=True, filter_by=["name==walk-b0"],
                  sort_by="deletedAt", sort_order="desc")["workloads"][0]
    check(told["deletedAt"] and told["type"] == "Training" and told["projectId"] == project, told)
    w.call(w.work.trainings.delete_training, training)
    w.until("it is gone", is_gone(w, training))
    w.done("batch_workloads", "delete_training")


def walk_properties(w, cluster, project):
    api = w.work.workload_properties
    categories = w.data(api.list_categories)["categories"]
    same({c["name"] for c in categories}, {"Build", "Train", "Deploy"})
    same(w.data(api.get_category_by_id, categories[0]["id"]), categories[0])
    types = w.data(api.list_workload_types, filter_by=["name==Inference"])["types"]
    same([(t["categoryName"], t["priorityName"]) for t in types], [("Deploy", "very-high")])
    same(w.data(api.get_workload_type, types[0]["id"]), types[0])
    values = w.data(api.get_workload_priorities, sort_by="value", sort_order="desc")["priorities"]
    same([p["value"] for p in values], [150, 125, 90, 80, 65, 40, 25])
    # Nothing changes these, so nothing can be read back but what they are.
    w.partial("list_categories", "get_category_by_id", "get_workload_priorities")

    by_name = {c["name"]: c["id"] for c in categories}
    rank = {p["name"]: p["id"] for p in values}
    made = w.data(api.create_workload_type, models.WorkloadTypeCreateFields(
        category_id=by_name["Train"], priority_id=rank["low"], name="RayJob", group="ray.io",
        resource_interfaces=[{"spec": {"version": "v1"}}]))
    w.fails(ConflictException, api.create_workload_type, {
        "categoryId": by_name["Train"], "priorityId": rank["high"], "name": "RayJob",
        "group": "ray.io"})
    found = w.data(api.list_workload_types, external_types_only=True)["types"]
    same([(t["name"], t["group"], t["resourceInterfaces"][0]["version"]) for t in found],
         [("RayJob", "ray.io", "v1")])
    w.call(api.update_workload_type, made["id"], models.WorkloadTypeUpdateFields(
        category_id=by_name["Deploy"], resource_interfaces=[]))
    found = w.data(api.get_workload_type, made["id"])
    same((found["categoryName"], found["priorityName"], found["resourceInterfaces"]),
         ("Deploy", "low", []))
    w.call(api.delete_workload_type, made["id"])
    w.fails(NotFoundException, api.get_workload_type, made["id"])

    # Of weir's own kinds too: what is submitted from then on has that priority.
    workspace = w.data(api.list_workload_types, filter_by=["name==Workspace"])["types"][0]["id"]
    w.call(api.update_workload_type, workspace, {"priorityId": rank["medium"]})
    one = w.data(w.work.workspaces.create_workspace1, {
        "name": "walk-p", "projectId": project, "clusterId": cluster,
        "spec": {"command": "sleep 600", "terminationGracePeriodSeconds": 1}})["workloadId"]
    found = w.data(w.work.workloads.get_workload, one)
    same((found["priorityClassName"], found["category"]), ("medium", "Build"))
    w.call(api.update_workload_type, workspace, {"priorityId": rank["high"]})
    w.call(w.work.workspaces.delete_workspace, one)
    w.until("it is gone", is_gone(w, one))
    w.done("create_workload_type", "list_workload_types", "get_workload_type",
           "update_workload_type", "delete_workload_type")


def as_user(make, token):
    """A client of its own that sends another token than the one it got."""
    other = Walk(make())
    other.kind.client.api_client.set_default_header("authorization", f"Bearer {token}")
    return other


def walk_users(w, make):
    api, tokens = w.access.users, w.access.tokens
    made = w.data(api.create_user, models.UserCreationRequest1(email="walker@example.com"))
    same(w.data(api.get_user_by_id, made["id"])["username"], "walker@example.com")
    same(w.data(api.count_users, filter_by=["username==walker@example.com"])["count"], 1)
    same([u["id"] for u in w.data(api.get_users, filter_by=["username=@walker"])], [made["id"]])
    w.fails(ConflictException, api.create_user,
            models.UserCreationRequest1(email="walker@example.com"))

    def sign_in(password):
        return w.data(tokens.grant_token, models.TokenRequest(
            grant_type="password", username="walker@example.com", password=password))["accessToken"]

    user = as_user(make, sign_in(made["tempPassword"]))
    user.call(user.access.users.change_user_password, models.UserChangePasswordRequest(
        current_password=made["tempPassword"], new_password="on foot at last, 42"))
    user.kind.close()
    user = as_user(make, sign_in("on foot at last, 42"))
    w.done("create_user", "get_user_by_id", "count_users", "get_users", "change_user_password",
           "grant_token")
    walk_rules(w, user, made["id"])
    walk_keys(w, user, make)
    w.call(api.logout_user, made["id"])
    refused(user)
    user.kind.close()
    again = w.data(api.reset_user_password, made["id"])["tempPassword"]
    check(sign_in(again), "the new password")
    w.call(api.delete_user_by_id, made["id"])
    w.fails(NotFoundException, api.get_user_by_id, made["id"])
    w.done("logout_user", "reset_user_password", "delete_user_by_id")


def refused(other):
    """What it sends is not taken any more. The SDK tries a 401 again before it gives up."""
    try:
        other.call(other.access.me.count_me_access_rules)
    except (UnauthorizedException, MaxRetryError):
        return
    raise AssertionError("it was not refused")


def walk_rules(w, user, user_id):
    rules, roles = w.access.access_rules, w.access.roles
    viewer = [r for r in w.data(roles.get_roles_v1) if r["name"] == "Viewer"][0]
    same(w.data(roles.get_role_v1, viewer["id"])["permissions"], viewer["permissions"])
    project = w.data(w.org.projects.get_projects, filter_by=["name==walk-a"])["projects"][0]["id"]
    user.fails(ForbiddenException, user.org.projects.get_projects)  # nothing before a rule
    user.fails(NotFoundException, user.org.projects.get_project, project)
    made = w.data(rules.create_access_rule, models.AccessRuleCreationFields(
        subject_id="walker@example.com", subject_type="user", role_id=viewer["id"],
        scope_id=project, scope_type="project"))
    same([p["id"] for p in user.data(user.org.projects.get_projects)["projects"]], [project])
    same(user.data(user.org.projects.get_project, project)["name"], "walk-a")
    user.fails(ForbiddenException, user.org.projects.delete_project, project)
    w.done("get_roles_v1", "get_role_v1")
    mine = user.data(user.access.me.get_me_access_rules)
    same([r["scopeName"] for r in mine["accessRules"]["accessRules"]]
         if "accessRules" in mine["accessRules"] else mine, ["walk-a"])
    same(user.data(user.access.me.count_me_access_rules)["count"], 1)
    scopes = user.data(user.access.permissions.get_permitted_scopes,
                       {"resourceType": "project", "action": "read"})
    same(scopes["read"]["projects"], [project])
    check("project" in [p["resourceType"] for p in user.data(
        user.access.permissions.get_permissions)], "permissions")
    same(w.data(rules.get_access_rule, made["id"])["scopeId"], project)
    same(w.data(rules.count_access_rules, filter_by=["subjectId==walker@example.com"])["count"], 1)
    listed = w.data(rules.get_access_rules, subject_type="user", scope_type="project")
    same([r["id"] for r in listed["accessRules"]], [made["id"]])
    more = w.data(rules.access_rules_batch_create, {"payload": {
        "roleId": viewer["id"], "subjects": [{"subjectId": n, "subjectType": "group"}
                                             for n in ("one", "two")],
        "scopes": [{"scopeId": project, "scopeType": "project"}]}})
    same((len(more["succeeded"]), more.get("failed", [])), (2, []))
    same(w.data(rules.count_access_rules, filter_by=["subjectType==group"])["count"], 2)
    w.call(rules.delete_access_rule, made["id"])
    user.fails(NotFoundException, user.org.projects.get_project, project)
    ids = [str(rule["id"]) for rule in more["succeeded"]]
    tried = w.data(rules.access_rules_batch, {"ids": ids, "action": "validate_delete"})
    same((tried["succeeded"], w.data(rules.count_access_rules,
                                     filter_by=["subjectType==group"])["count"]), (ids, 2))
    same(w.data(rules.access_rules_batch, {"ids": ids, "action": "delete"})["succeeded"], ids)
    same(w.data(rules.count_access_rules, filter_by=["subjectType==group"])["count"], 0)
    w.done("create_access_rule", "get_access_rule", "count_access_rules", "get_access_rules",
           "delete_access_rule", "access_rules_batch_create", "access_rules_batch", "get_me_access_rules",
           "count_me_access_rules", "get_permitted_scopes", "get_permissions")


def walk_keys(w, user, make):
    keys = user.access.access_keys
    made = user.data(keys.create_access_key1, models.AccessKeyCreationRequest1(name="walk-key"))
    same(user.data(keys.get_access_key_by_id1, made["id"])["name"], "walk-key")
    same([k["id"] for k in user.data(keys.get_access_keys)["accessKeys"]], [made["id"]])
    every = w.data(w.access.access_keys.get_access_keys_administration)["accessKeys"]
    same([k["createdBy"] for k in every if k["id"] == made["id"]], ["walker@example.com"])

    def enter(secret):
        return w.data(w.access.tokens.grant_token, models.TokenRequest(
            grant_type="app_token", app_id=made["clientId"], app_secret=secret))["accessToken"]

    by_key = as_user(make, enter(made["clientSecret"]))
    same(by_key.data(by_key.access.me.count_me_access_rules)["count"], 0)
    secret = user.data(keys.regenerate_access_key_secret, made["id"])["clientSecret"]
    refused(by_key)
    by_key.kind.close()
    check(enter(secret), "the new secret")
    user.call(keys.delete_access_key_by_id, made["id"])
    user.fails(NotFoundException, keys.get_access_key_by_id1, made["id"])
    other = user.data(keys.create_access_key1, models.AccessKeyCreationRequest1(name="walk-two"))
    w.call(w.access.access_keys.delete_access_key_by_id_administration, other["id"])
    same(user.data(keys.get_access_keys)["accessKeys"], [])
    w.done("create_access_key1", "get_access_key_by_id1", "get_access_keys",
           "get_access_keys_administration", "regenerate_access_key_secret",
           "delete_access_key_by_id", "delete_access_key_by_id_administration")


def walk_service_accounts(w, make):
    api = w.access.service_accounts
    made = w.data(api.create_service_account, models.ServiceAccountCreationRequest(name="walk-ci"))
    same(w.data(api.get_service_account_by_id, made["id"])["enabled"], True)
    check("walk-ci" in [a["name"] for a in w.data(api.get_service_accounts)], "the list")

    def enter(secret):
        return w.data(w.access.tokens.grant_token, models.TokenRequest(
            grant_type="client_credentials", client_id=made["clientId"],
            client_secret=secret))["accessToken"]

    robot = as_user(make, enter(made["clientSecret"]))
    same(robot.data(robot.access.me.count_me_access_rules)["count"], 0)
    secret = w.data(api.regenerate_service_account_secret, made["id"])["clientSecret"]
    refused(robot)
    robot.kind.close()
    robot = as_user(make, enter(secret))
    w.call(api.update_service_account_by_id, made["id"],
           models.ServiceAccountPatchRequest(enabled=False))
    same(w.data(api.get_service_account_by_id, made["id"])["enabled"], False)
    refused(robot)
    robot.kind.close()
    w.call(api.delete_service_account_by_id, made["id"])
    w.fails(NotFoundException, api.get_service_account_by_id, made["id"])
    w.done("create_service_account", "get_service_account_by_id", "get_service_accounts",
           "regenerate_service_account_secret", "update_service_account_by_id",
           "delete_service_account_by_id")


def walk_idps(w):
    """Nobody signs in by them here: that is what tests/server/sso_test.py is for."""
    api = w.access.idps

    def said(name, client):
        return models.IdpCreationRequest(
            name=name, type="oidc", mappers=models.Mappers(groups="groups"),
            oidc_data=models.OidcCreationData(
                client_id=client, client_secret="hush", scopes=["openid", "email"],
                discover_document_url="https://idp.example/.well-known/openid-configuration"))

    same(w.data(api.create_idp, said("walk-idp", "weir"))["alias"], "walk-idp")
    one = w.data(api.get_idp, "walk-idp")
    same((one["oidcData"]["clientId"], one["oidcData"]["clientSecret"]), ("weir", ""))
    check("walk-idp" in [i["alias"] for i in w.data(api.get_idps)], "the list")
    w.call(api.update_idp, "walk-idp", said("walk-idp", "other"))
    same(w.data(api.get_idp, "walk-idp")["oidcData"]["clientId"], "other")
    w.call(api.update_idp_mappers, "walk-idp", models.Mappers(groups="roles", email="mail"))
    same(w.data(api.get_idp_mappers, "walk-idp")["groups"], "roles")
    w.fails(ConflictException, api.create_idp, said("walk-idp", "weir"))
    w.call(api.delete_idp, "walk-idp")
    w.fails(NotFoundException, api.get_idp, "walk-idp")
    w.done("create_idp", "get_idp", "get_idps", "update_idp", "update_idp_mappers",
           "get_idp_mappers", "delete_idp")


def walk_asset(w, api, create, get, listing, update, delete, body, member, value):
    """One kind of asset: made, read, listed, changed, deleted."""
    meta = {"name": "walk-asset", "scope": "project", "projectId": w.project_id}
    made = w.data(getattr(api, create), {"meta": meta, "spec": body})
    asset = made["meta"]["id"]
    same(made["meta"]["projectName"], "walk-a")
    same(w.data(getattr(api, get), asset)["spec"].get(member), value)
    listed = w.data(getattr(api, listing), project_id=w.project_id)["entries"]
    check(asset in [a["meta"]["id"] for a in listed], listing)
    changed = {"meta": {"name": "walk-asset", "description": "changed"}}
    w.call(getattr(api, update), asset, changed)
    one = w.data(getattr(api, get), asset)
    same((one["meta"]["description"], one["spec"].get(member)), ("changed", value))
    w.call(getattr(api, delete), asset)
    w.fails(NotFoundException, getattr(api, get), asset)
    w.done(create, get, listing, update, delete)


def walk_assets(w, project):
    w.project_id = int(project)
    assets = w.kind.client.workload_assets
    walk_asset(w, assets.compute, "create_compute_asset", "get_compute_asset_by_id",
               "list_compute_assets", "update_compute_asset_by_id", "delete_compute_asset_by_id",
               {"gpuDevicesRequest": 2}, "gpuDevicesRequest", 2)
    walk_asset(w, assets.environment, "create_environment_asset", "get_environment_asset_by_id",
               "list_environment_assets", "update_environment_asset_by_id",
               "delete_environment_asset_by_id", {"image": "host", "command": "sleep 1"},
               "command", "sleep 1")
    for api, name, lists, body, member in (
            ("git", "git_asset", "list_git_assets", {"path": "/src"}, "path"),
            ("s3", "s3_asset", "list_s3_assets", {"bucket": "b"}, "bucket"),
            ("nfs", "nfs_asset", "list_nfs_assets", {"server": "n", "path": "/"}, "server"),
            ("pvc", "pvc_asset", "list_pvc_assets", {"claimName": "c"}, "claimName"),
            ("host_path", "host_path", "list_host_path_assets", {"path": "/srv"}, "path"),
            ("config_map", "config_map_asset", "list_config_map_assets", {"configMap": "c"},
             "configMap"),
            ("secret", "secret_asset", "list_secret_assets", {"mountPath": "/m"}, "mountPath")):
        walk_asset(w, getattr(assets, api), f"create_{name}", f"get_{name}_by_id", lists,
                   f"update_{name}_by_id", f"delete_{name}_by_id", body, member, body[member])
    for name, lists, body, hidden in (
            ("access_key", "list_access_keys", {"accessKeyId": "a", "secretAccessKey": "hush"},
             "secretAccessKey"),
            ("password", "list_passwords", {"user": "u", "password": "hush"}, "password"),
            ("docker_registry", "list_docker_registries",
             {"user": "u", "password": "hush", "url": "r.example"}, "password"),
            ("generic_secret", "list_generic_secret",
             {"keyValuePairs": [{"key": "k", "value": "hush"}]}, "value"),
            ("ngc_api_key", "list_ngc_api_key", {"ngc_api_key": "hush"}, "ngc_api_key")):
        walk_asset(w, assets.credentials, f"create_{name}", f"get_{name}_by_id", lists,
                   f"update_{name}", f"delete_{name}", body, hidden, None)
    meta = {"name": "walk-both", "scope": "project", "projectId": w.project_id}
    git = w.data(assets.git.create_git_asset, {"meta": meta, "spec": {"path": "/src"}})
    secret = w.data(assets.credentials.create_password, {
        "meta": meta, "spec": {"user": "u", "password": "hush"}})
    for listing, made in ((assets.datasources.list_datasource_assets, git),
                          (assets.credentials.list_credentials_assets, secret)):
        entries = w.data(listing, project_id=w.project_id, name="walk-both")["entries"]
        same([a["meta"]["id"] for a in entries], [made["meta"]["id"]])
        check("hush" not in json.dumps(entries), "a secret")
        w.done(listing.__name__)
    w.call(assets.git.delete_git_asset_by_id, git["meta"]["id"])
    w.call(assets.credentials.delete_password, secret["meta"]["id"])


def walk_templates(w, project, cluster):
    api = w.kind.client.workloads.workload_templates
    assets = w.kind.client.workload_assets
    meta = {"name": "walk-env", "scope": "project", "projectId": int(project)}
    environment = w.data(assets.environment.create_environment_asset, {
        "meta": meta, "spec": {"command": "sleep 600"}})["meta"]["id"]
    meta = {"name": "walk-template", "scopeType": "project", "scopeId": project}
    # The last of these only comes and goes: it has neither PUT nor PATCH.
    for one, lists in (("workspace", "list_workspace_templates"),
                       ("training", "list_training_templates"),
                       ("distributed", "list_distributed_templates"),
                       ("inference", "list_inference_templates")):
        get = getattr(api, f"get_{one}_template")
        made = w.data(getattr(api, f"create_{one}_template"), {
            "meta": meta, "spec": {"workingDir": "/"}, "assets": {"environment": environment}})
        template = made["meta"]["id"]
        same(w.data(get, template)["combinedSpec"]["command"], "sleep 600")
        same(w.data(api.get_template_by_id1, template)["meta"]["name"], "walk-template")
        same([t["meta"]["id"] for t in w.data(getattr(api, lists))["entries"]], [template])
        if one != "inference":
            w.call(getattr(api, f"patch_{one}_template"), template, {"spec": {"workingDir": "/tmp"}})
            found = w.data(get, template)
            same((found["spec"]["workingDir"], found["assets"]["environment"]),
                 ("/tmp", environment))
            w.call(getattr(api, f"update_{one}_template"), template, {
                "meta": {"name": "walk-template"}, "spec": {"workingDir": "/srv"}})
            same(w.data(get, template)["spec"]["workingDir"], "/srv")
            w.done(f"patch_{one}_template", f"update_{one}_template")
        if one == "training":
            w.call(getattr(api, f"patch_{one}_template"), template, {
                "spec": {"workingDir": "/", "command": "sleep 600"}})
            job = w.data(w.kind.client.workloads.trainings.create_training1, {
                "name": "walk-from-template", "projectId": project, "clusterId": cluster,
                "templateId": template})
            same(job["spec"]["command"], "sleep 600")
            w.call(w.kind.client.workloads.trainings.delete_training, job["workloadId"])
            w.until("it is gone", is_gone(w, job["workloadId"]))
        w.call(getattr(api, f"delete_{one}_template"), template)
        w.fails(NotFoundException, get, template)
        w.done(f"create_{one}_template", f"get_{one}_template", f"delete_{one}_template", lists)
    where = {"template_name": "walk-template", "scope_type": "project", "scope_id": project}
    same(w.status(api.template_name_availability, **where), 204)
    made = w.data(api.create_training_template, {"meta": meta, "spec": {}})["meta"]["id"]
    w.fails(ConflictException, api.template_name_availability, **where)
    same(w.data(api.count_templates, search="walk-t")["count"], 1)
    same([t["meta"]["id"] for t in w.data(api.list_templates1, search="walk-t")["entries"]], [made])
    w.call(api.delete_training_template, made)
    w.call(assets.environment.delete_environment_asset_by_id, environment)
    w.done("template_name_availability", "count_templates", "list_templates1",
           "get_template_by_id1")


def walk_policies(w, project):
    api = w.kind.client.policies.policy
    number = int(project)
    where = {"scope": "project", "project_id": project}
    for one, kind in (("training", "Training"), ("workspace", "Workspace"),
                      ("inference", "Inference"), ("distributed", "Distributed")):
        def part(value):
            return {"worker": value} if one == "distributed" else value

        def read(found):
            return found.get("worker") if one == "distributed" else found

        meta = {"scope": "project", "projectId": number, "name": "walk-policy"}
        policy = {"defaults": part({"image": "a:1"}),
                  "rules": part({"compute": {"gpuDevicesRequest": {"max": 4}}})}
        overwrite = getattr(api, f"overwrite_{one}_policy_v2")
        get = getattr(api, f"get_{one}_policy_v2")
        update = getattr(api, f"update_{one}_policy_v2")
        delete = getattr(api, f"delete_{one}_policy")
        w.call(overwrite, True, None, {"meta": meta, "policy": policy})
        same(w.data(api.list_policies, workload_type=kind, **where)["policies"], [])
        w.call(overwrite, None, None, {"meta": meta, "policy": policy})
        found = w.data(get, **where)
        same((found["meta"]["name"], read(found["policy"]["defaults"])["image"]),
             ("walk-policy", "a:1"))
        rule = read(found["effective"]["rules"])["compute"]["gpuDevicesRequest"]
        same((rule["max"], rule["sourceOfRule"]["projectId"]), (4, number))
        listed = w.data(api.list_policies, workload_type=kind, **where)["policies"]
        same([(p["type"], p["meta"]["id"]) for p in listed], [(one, found["meta"]["id"])])
        path = "worker.image" if one == "distributed" else "image"
        w.call(update, None, None, {"meta": meta, "policy": {"defaults": part({"workingDir": "/w"})},
                        "reset": [path]})
        same(read(w.data(get, **where)["policy"]["defaults"]), {"workingDir": "/w"})
        w.fails(BadRequestException, overwrite, None, None, {"meta": meta, "policy": {"rules": part(
            {"compute": {"gpuDevicesRequest": {"min": 5, "max": 4}}})}})
        w.call(delete, **where)
        check("policy" not in w.data(get, **where), "deleted")
        w.fails(NotFoundException, delete, **where)
        w.done(f"overwrite_{one}_policy_v2", f"get_{one}_policy_v2", f"update_{one}_policy_v2",
               f"delete_{one}_policy")
    w.done("list_policies")


def walk_settings(w):
    api = w.org.tenant
    key = "workload.ownership-protection"
    for on in (True, False):
        w.call(api.update_tenant_setting, models.TenantSettingCreationRequest(key=key, value=on))
        same(w.data(api.get_tenant_settings_by_key, key), on)
        values = {s["key"]: s["value"] for s in w.data(api.get_tenant_settings)}
        same((values[key], values["department.use"]), (str(on).lower(), "true"))
    w.fails(NotFoundException, api.get_tenant_settings_by_key, "nothing")
    w.done("update_tenant_setting", "get_tenant_settings_by_key", "get_tenant_settings")


def walk_reports(w):
    api = w.kind.client.organizations.reports
    now = datetime.datetime.now(datetime.timezone.utc)
    same(w.data(api.are_reports_available), {"isAvailable": True})
    made = w.data(api.create_report, models.ReportRequestFields(
        name="walk-report", description="d", start=now - datetime.timedelta(hours=1), end=now,
        group_by="Project", filter_by=["projectName==walk-project"]))
    same((made["status"], made["groupBy"], made["filterBy"]),
         ("Ready", "Project", ["projectName==walk-project"]))
    same(w.data(api.get_report_by_id, made["id"])["name"], "walk-report")
    same(w.data(api.count_reports, search="walk-rep")["count"], 1)
    same([r["id"] for r in w.data(api.list_reports, sort_by="createdAt")["reports"]],
         [made["id"]])
    w.call(api.delete_report_by_id, made["id"])
    w.fails(NotFoundException, api.get_report_by_id, made["id"])
    w.done("are_reports_available", "create_report", "get_report_by_id", "count_reports",
           "list_reports", "delete_report_by_id")


def walk_audit(w):
    """What the walk has done is in there."""
    api = w.kind.client.audit.audit_logs
    now = datetime.datetime.utcnow()
    hours = {"start": now - datetime.timedelta(hours=1), "end": now + datetime.timedelta(hours=1)}
    everything = w.data(api.get_audit_logs, **hours, number_of_samples=1000)
    check(everything["total"] > 20, everything["total"])
    same(len(everything["audit_logs"]), min(everything["total"], 1000))
    made = w.data(api.get_audit_logs, **hours, filter_by=["entity_name==walk-ci", "action==create"])
    same([(e["result"], e["subject_type"], e["http_method"]) for e in made["audit_logs"]],
         [("Succeeded", "App", "POST")])
    w.fails(ForbiddenException, w.access.tokens.grant_token, models.TokenRequest(
        grant_type="client_credentials", client_id="walk-nobody", client_secret="x"))
    failed = w.until("the refused sign-in is in the audit", lambda: w.data(
        api.get_audit_logs, **hours, filter_by=["subject==walk-nobody"])["audit_logs"])
    same((failed[0]["action"], failed[0]["result"]), ("sign-in", "Failed"))
    first = w.data(api.get_audit_logs, **hours, number_of_samples=1, sort_by="timestamp",
                   sort_order="asc")
    same((len(first["audit_logs"]), first["next"]), (1, 1))
    check(first["audit_logs"][0]["timestamp"] < everything["audit_logs"][0]["timestamp"], "order")
    # The client reads every answer as JSON: of the two forms of the file it can take this one.
    file = w.data(api.download_audit_logs, **hours, file_type="JSON",
                  filter_by=["subject==walk-nobody"])
    same({e["result"] for e in file["audit_logs"]}, {"Failed"})
    w.done("get_audit_logs", "download_audit_logs")


def main():
    url, client_id, client_secret, name, results = sys.argv[1:6]
    kinds = {"plain": Plain, "threaded": Threaded, "async": Async}

    def make():
        return kinds[name](Configuration(client_id=client_id, client_secret=client_secret,
                                         runai_base_url=url))

    kind = make()
    w = Walk(kind)
    cluster = walk_clusters(w)
    pool = walk_pools(w, cluster)
    department = walk_departments(w, cluster, pool)
    project = walk_projects(w, cluster, pool, department)
    walk_scheduling_rules(w, cluster, pool, department)
    walk_policies(w, project)
    node = walk_nodes(w, cluster)
    training = walk_training(w, cluster, project)
    walk_read_model(w, cluster, project, training, node)
    walk_other_kinds(w, cluster, project)
    walk_batch(w, cluster, project, training)
    walk_properties(w, cluster, project)
    walk_users(w, make)
    walk_service_accounts(w, make)
    walk_idps(w)
    walk_assets(w, project)
    walk_templates(w, project, cluster)
    walk_settings(w)
    walk_reports(w)
    walk_audit(w)
    w.call(w.org.projects.delete_project, project)
    w.call(w.org.departments.delete_department, department)
    kind.close()
    with open(results, "w", encoding="utf-8") as f:
        json.dump(w.shown, f, indent=1, sort_keys=True)


main()
